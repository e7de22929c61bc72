#!/usr/bin/env python3
"""Checks the structure of the repository: which folder includes which, headers, sizes, leftovers.

Usage: check.py [ROOT]. Prints one line for each finding, and exits 1 if there is any.
"""

import collections
import re
import sys

import repository

MAX_LINES = 600
# The most source files directly in a folder.
MAX_FILES = 30
SOURCE_ENDINGS = (".cc", ".h", ".py", ".sh", ".js", ".mjs", ".css", ".html")

# The includes that a folder may have besides its own: folders, or single headers. See "Dependencies run one way" in
# docs/architecture.md.
ENGINES = ["pep/base", "pep/schedule", "pep/wire", "pep/control", "pep/compress", "pep/crypto", "pep/tcp",
           "pep/stp"]
# Plain values and the words for them.
SCHEMA = ["config/model"]
ON_TOP = ENGINES + ["config", "relay/gateway", "relay/link", "relay/kernel", "relay/machine", "relay/dpdk", "relay/ops",
                    "relay/text", "relay/version"]
IN_VIRTUAL_TIME = ENGINES + ["config", "relay/gateway", "relay/link", "relay/sim", "relay/text"]
# Counters, for the programs that show them.
COUNTERS = ["pep/stp/counters.h", "pep/tcp/counters.h", "pep/compress/codec_counters.h",
            "relay/gateway/counters.h", "relay/gateway/rules/rule_counters.h",
            "relay/gateway/uplink/class_counters.h", "relay/dpdk/device/port_stats.h",
            "relay/records/record_counters.h"]
# Includes that several folders below may have: the rooms of relay/gateway, of pep/stp and of pep/tcp, and the programs
# that look at a gateway from outside.
GATEWAY = ENGINES + SCHEMA + ["relay/gateway/counters.h", "relay/gateway/ids.h"]
SESSION = ["pep/base", "pep/schedule", "pep/control", "pep/stp/types.h"]
TCP_HALVES = ["pep/base", "pep/wire", "pep/control", "pep/tcp/counters.h", "pep/tcp/ecn.h", "pep/tcp/environment.h",
              "pep/tcp/timers.h", "pep/tcp/types.h", "pep/tcp/urgent_marks.h"]
TCP_BLOCK = TCP_HALVES + ["pep/tcp/challenge_limit.h", "pep/tcp/negotiation.h", "pep/tcp/sequence_space.h",
                          "pep/tcp/timestamps.h", "pep/tcp/receiving", "pep/tcp/sending"]
TCP = TCP_BLOCK + ["pep/tcp/time_wait.h", "pep/tcp/block"]
OUTSIDE = COUNTERS + ["pep/base", "relay/client", "relay/ops/control/control_client.h",
                      "relay/ops/control/control_grammar.h", "relay/version"]
MAY_INCLUDE = {
    "pep/base": [],
    "pep/schedule": ["pep/base"],
    "pep/wire": ["pep/base"],
    "pep/control": ["pep/base"],
    "pep/compress": ["pep/base", "pep/crypto/hkdf.h"],
    "pep/crypto": ["pep/base"],
    "pep/tcp": ["pep/base", "pep/wire", "pep/control"],
    "pep/stp": ["pep/base", "pep/schedule", "pep/control", "pep/crypto"],
    # The rooms of pep/tcp: each includes only the rooms above it.
    "pep/tcp/receiving": TCP_HALVES,
    "pep/tcp/sending": TCP_HALVES,
    "pep/tcp/block": TCP_BLOCK,
    "pep/tcp/segments": TCP,
    "pep/tcp/ending": TCP + ["pep/tcp/segments"],
    "pep/tcp/opening": TCP + ["pep/tcp/segments", "pep/tcp/ending"],
    "pep/tcp/questions": TCP + ["pep/tcp/segments", "pep/tcp/ending"],
    "pep/tcp/input": TCP + ["pep/tcp/segments", "pep/tcp/ending", "pep/tcp/opening", "pep/tcp/questions"],
    "pep/tcp/output": TCP + ["pep/tcp/segments"],
    "pep/tcp/views": TCP + ["pep/tcp/input"],
    # The rooms of pep/stp: each includes only the rooms above it.
    "pep/stp/wire": SESSION,
    "pep/stp/streams": SESSION + ["pep/stp/wire"],
    "pep/stp/numbers": SESSION + ["pep/stp/wire"],
    "pep/stp/path": SESSION + ["pep/stp/wire", "pep/stp/numbers"],
    "pep/stp/connection": SESSION + ["pep/crypto", "pep/stp/counters.h", "pep/stp/wire", "pep/stp/path"],
    "pep/stp/packets": SESSION + ["pep/stp/counters.h", "pep/stp/wire", "pep/stp/streams", "pep/stp/numbers",
                                  "pep/stp/path", "pep/stp/connection"],
    "pep/stp/fec": SESSION + ["pep/stp/wire", "pep/stp/streams", "pep/stp/numbers", "pep/stp/path",
                              "pep/stp/packets"],
    "pep/stp/recovery": SESSION + ["pep/stp/counters.h", "pep/stp/wire", "pep/stp/streams", "pep/stp/numbers",
                                   "pep/stp/path", "pep/stp/connection", "pep/stp/packets", "pep/stp/fec"],
    "config": ["pep/base", "pep/compress"],
    "relay/gateway": ENGINES + SCHEMA,
    # The rooms of relay/gateway: each includes only the rooms above it.
    "relay/gateway/frames": GATEWAY,
    "relay/gateway/steering": GATEWAY + ["relay/gateway/frames", "relay/gateway/port_id.h"],
    "relay/gateway/shares": ["pep/base", "pep/schedule", "config/model/traffic_class.h", "relay/gateway/ids.h"],
    "relay/gateway/uplink": GATEWAY + ["relay/gateway/frames", "relay/gateway/shares"],
    "relay/gateway/rules": GATEWAY + ["relay/gateway/frames", "relay/gateway/uplink"],
    "relay/gateway/addresses": GATEWAY + ["relay/gateway/frames", "relay/gateway/steering",
                                          "relay/gateway/uplink",
                                          "relay/gateway/rules"],
    "relay/gateway/recovery": GATEWAY + ["relay/gateway/frames", "relay/gateway/steering",
                                         "relay/gateway/rules",
                                         "relay/gateway/addresses"],
    "relay/gateway/peers": GATEWAY + ["relay/gateway/frames", "relay/gateway/steering",
                                      "relay/gateway/uplink",
                                      "relay/gateway/recovery", "relay/gateway/admission.h"],
    "relay/gateway/opening": GATEWAY + ["relay/gateway/frames", "relay/gateway/rules",
                                        "relay/gateway/addresses",
                                        "relay/gateway/peers", "relay/gateway/admission.h",
                                        "relay/gateway/port_id.h"],
    "relay/gateway/flows": GATEWAY + ["relay/gateway/frames", "relay/gateway/steering",
                                      "relay/gateway/uplink",
                                      "relay/gateway/rules", "relay/gateway/opening",
                                      "relay/gateway/addresses", "relay/gateway/recovery",
                                      "relay/gateway/peers", "relay/gateway/snapshot.h"],
    "relay/gateway/bridging": GATEWAY + ["relay/gateway/frames", "relay/gateway/uplink",
                                         "relay/gateway/rules", "relay/gateway/opening",
                                         "relay/gateway/handled_frame.h", "relay/gateway/port_id.h"],
    "relay/gateway/parts": GATEWAY + ["relay/gateway/frames", "relay/gateway/steering",
                                      "relay/gateway/uplink", "relay/gateway/rules",
                                      "relay/gateway/addresses", "relay/gateway/recovery",
                                      "relay/gateway/peers", "relay/gateway/opening",
                                      "relay/gateway/flows", "relay/gateway/identity.h"],
    "relay/gateway/lanes": GATEWAY + ["relay/gateway/steering", "relay/gateway/addresses",
                                      "relay/gateway/peers", "relay/gateway/flows",
                                      "relay/gateway/parts", "relay/gateway/plain_observer.h",
                                      "relay/gateway/port_id.h"],
    "relay/gateway/input": GATEWAY + ["relay/gateway/frames", "relay/gateway/steering",
                                      "relay/gateway/rules", "relay/gateway/addresses",
                                      "relay/gateway/opening", "relay/gateway/flows",
                                      "relay/gateway/bridging", "relay/gateway/parts",
                                      "relay/gateway/lanes", "relay/gateway/handled_frame.h"],
    "relay/link": ["pep/base", "pep/wire", "pep/control/rate_controller.h", "config/model/link_model.h",
                   "config/model/schema.h"],
    "relay/sim": ENGINES + ["config/model/link_model.h", "config/model/schema.h", "relay/gateway", "relay/link"],
    "relay/text": [],
    "relay/version": [],
    "relay/kernel": ["pep/base"],
    # Faults of the machine, for the gateway and for the programs that look for them.
    "relay/machine": ["pep/base", "config", "relay/gateway/flows/hosts/awaited_reports.h",
                      "relay/gateway/flows/table/memory_plan.h", "relay/gateway/recovery", "relay/kernel",
                      "relay/ops/events/severity.h", "relay/records/record_ring.h"],
    "relay/dpdk": ["pep/base", "pep/wire", "config/model/schema.h", "relay/kernel"],
    "relay/ops": ENGINES + SCHEMA + ["config/text/units.h", "config/text/ip_words.h", "relay/gateway",
                                     "relay/dpdk/device/dpdk_version.h", "relay/dpdk/device/port_stats.h",
                                     "relay/version", "relay/records/record_counters.h",
                                     "relay/records/records_report.h"],
    # Records of flows.
    "relay/records": ["pep/base", "config/model/schema.h", "relay/gateway/counters.h",
                      "relay/gateway/flows/flow_record.h", "relay/gateway/flows/origin.h"],
    # The rights that a gateway gives up.
    "relay/supervision": ["pep/base"],
    "relay/supervise": ["pep/base", "config/model/schema.h", "config/outline/read_outline.h", "config/text/error.h",
                        "config/text/error.h", "relay/kernel", "relay/ops/log/log.h", "relay/ops/process",
                        "relay/supervision", "relay/version"],
    "relay/satrelayd": ON_TOP + ["relay/doctor", "relay/records", "relay/supervision"],
    "relay/satlink": ON_TOP,
    "relay/satperf": ENGINES + ["config", "relay/text", "relay/version"],
    "relay/satlab": IN_VIRTUAL_TIME + ["relay/version"],
    # Judges a file, a machine and the replies of a gateway.
    "relay/doctor": ["pep/base", "config", "relay/client", "relay/kernel", "relay/machine",
                     "relay/ops/events/severity.h", "relay/ops/process/run_user.h", "relay/text", "relay/version"],
    # Programs that look at a gateway from outside.
    "relay/client": ["pep/base", "relay/text", "config/text/ip_words.h", "config/model/words.h",
                     "relay/ops/control/control_client.h", "relay/ops/stats/capture_format.h"],
    "relay/metrics": OUTSIDE + ["relay/ops/stats/worker_counters.h", "relay/ops/stats/histogram_list.h"],
    "relay/satrelayctl": OUTSIDE + ["relay/metrics", "relay/text", "config/model/schema.h", "config/text/ip_words.h",
                                    "config/outline/read_outline.h", "config/text/error.h",
                                    "config/text/units.h", "relay/ops/control/nearest_word.h",
                                    "relay/ops/events/event_words.h", "relay/ops/events/severity.h",
                                    "relay/ops/stats/histogram_list.h", "relay/ops/stats/history_words.h"],
    # Writes configurations, and so reads values with their readers.
    "relay/satrelayctl/init": ["pep/base", "pep/wire", "config", "relay/machine/interface_addresses.h", "relay/text",
                               "relay/satrelayctl/commands",
                               "relay/satrelayctl/support", "relay/satrelayctl/views/screen.h"],
    # Shows the findings of relay/doctor.
    "relay/satrelayctl/doctor": ["config", "relay/client", "relay/doctor", "relay/machine", "relay/text",
                                 "relay/satrelayctl/support/tech_support.h", "relay/satrelayctl/views/screen.h"],
    "relay/satpanel": OUTSIDE + ["relay/metrics", "config/model/schema.h", "config/text/descriptor.h",
                                 "config/text/ip_words.h", "config/text/text_file.h", "relay/ops/events/event.h",
                                 "relay/ops/log/log.h", "relay/ops/control/nearest_word.h",
                                 "relay/ops/control/socket_access.h", "relay/ops/control/unix_listener.h",
                                 "relay/ops/events/severity.h"],
    "tests": ON_TOP + ["relay/sim", "relay/records", "relay/satrelayd", "relay/satlink", "relay/satperf",
                       "relay/satlab", "relay/client", "relay/metrics", "relay/satrelayctl", "relay/satpanel",
                       "relay/supervision", "relay/supervise", "relay/doctor"],
}

# Folders with code that knows no clock, socket, thread, file or stream; tidy-purity checks the objects.
PURE = ["pep", "relay/gateway", "relay/link"]
IMPURE_HEADERS = re.compile(
    r"^(chrono|ctime|time\.h|thread|mutex|shared_mutex|condition_variable|future|stop_token|"
    r"semaphore|barrier|latch|fstream|iostream|ostream|istream|iomanip|sstream|cstdio|stdio\.h|"
    r"filesystem|random|csignal|signal\.h|unistd\.h|fcntl\.h|poll\.h|pthread\.h|syslog\.h|"
    r"dlfcn\.h|netdb\.h|(sys|net|netinet|arpa|linux|asm)/.*)$")

# The only code that may name DPDK.
MAKEFILE = "deploy/debian/rules"  # make asks for tabs
DPDK_PLACES = re.compile(r"^(relay/dpdk/|relay/ops/|relay/[a-z]+/main\.cc$|"
                         r"tests/unit/relay/(dpdk|ops)/|"
                         r"tests/unit/relay/satrelayd/workers/worker_(fixture\.h|test\.cc)$|"
                         r"tests/bench/bench_(policy|workers)\.cc$)")

# Unit tests have the path and the name of the unit or folder that they test: config/units_test.cc tests
# config/text/units.h. These test something else:
TESTS_OF_NO_UNIT = {
    "tests/unit/relay/ops/documentation_test.cc",  # docs/statistics.md
    "tests/unit/relay/dpdk/flow_hash_test.cc",     # relay/gateway/steering/flow_hash.h, against DPDK
}
# Tests of a whole session, endpoint or gateway may be directly in these folders.
TESTED_AS_A_WHOLE = ["tests/unit/pep/stp", "tests/unit/pep/tcp", "tests/unit/relay/gateway",
                     "tests/unit/relay/gateway/devices", "tests/unit/relay/gateway/forgery"]

# Text of the programs is made with {fmt}, which knows the types of its arguments.
SPRINTF = re.compile(r"\bv?sn?printf\s*\(")

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)

# Split, so that this file does not find itself.
LEFTOVERS = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]) + r")\b")
# Paths that exist on one machine only.
MACHINE_PATHS = re.compile(r"(?<![\w.$}/~-])/(" + "|".join(
    ["wo" + "rk", "ro" + "ot", "home/" + r"\w+", "tmp/" + "build", "Us" + "ers"]) + r")\b")
# Text of others, kept as it is.
FOREIGN = {"LICENSE"}


def folder_of(path):
    """The key of MAY_INCLUDE that governs `path`; None if there is none."""
    parts = path.split("/")
    for length in (3, 2, 1):
        key = "/".join(parts[:length])
        if len(parts) > length and key in MAY_INCLUDE:
            return key
    return None


def is_within(path, folder):
    return path == folder or path.startswith(folder + "/")


def check_includes(path, text, files):
    folder = folder_of(path)
    if folder is None:
        yield f"{path}: no rule says what this folder may include; add it to tests/tidy/check.py"
        return
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        quoted, angled = match.groups()
        if quoted is not None:
            if quoted not in files:
                yield f'{path}:{line}: "{quoted}" is no path of this repository from its root'
            elif not any(is_within(quoted, f) for f in [folder] + MAY_INCLUDE[folder]):
                yield f"{path}:{line}: {folder} must not include {quoted}"
            continue
        if angled.startswith("rte_") and not DPDK_PLACES.match(path):
            yield f"{path}:{line}: only relay/dpdk, relay/ops and a program's main may include {angled}"
        if IMPURE_HEADERS.match(angled) and any(is_within(path, f) for f in PURE):
            yield f"{path}:{line}: engines are pure and cannot use <{angled}>"


def check_header(path, text):
    if not text.startswith("//"):
        yield f"{path}:1: a header begins with a comment that says what it is for"
    if not re.search(r"^#pragma once$", text, re.MULTILINE):
        yield f"{path}: no #pragma once"


def check_unit_test(path, files):
    folder, _, name = path.rpartition("/")
    if not path.startswith("tests/unit/") or not name.endswith(("_test.cc", ".test.mjs")):
        return
    if path in TESTS_OF_NO_UNIT or folder in TESTED_AS_A_WHOLE:
        return
    unit = path.removeprefix("tests/unit/").removesuffix("_test.cc").removesuffix(".test.mjs")
    if not any(name.startswith((unit + ".", unit + "/")) for name in files):
        yield f"{path}: there is no {unit}.h, .cc or .js; a test has the path and the name of its unit"


def check_test_namespace(path, text):
    """Files that are compiled together share their anonymous namespaces."""
    name = path.rpartition("/")[2].removesuffix(".cc")
    if not path.startswith("tests/") or not re.search(r"^(TEST|TEST_F|TEST_P)\(", text, re.MULTILINE):
        return
    if not re.search(rf"^namespace [\w:]+::{name} {{$", text, re.MULTILINE):
        yield f"{path}: a file of tests has a namespace of its own, namespace satrelay::...::{name}"


def check_editor_settings(path, data):
    """The rules of .editorconfig that hold for every file."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        yield f"{path}: byte {error.start} is not UTF-8"
        return
    if text and not text.endswith("\n"):
        yield f"{path}: the last line has no end; .editorconfig asks for it"
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip():
            yield f"{path}:{number}: ends with a blank or a carriage return; .editorconfig forbids both"
        if line.startswith("\t") and path != MAKEFILE:
            yield f"{path}:{number}: is indented with a tab; .editorconfig asks for blanks"


def check_text(path, text):
    lines = text.count("\n")
    if lines > MAX_LINES and not path.startswith("docs/") and not path.endswith("-MIB.txt"):
        yield f"{path}: {lines} lines; look for the second unit in it (at most {MAX_LINES})"
    for number, line in enumerate(text.splitlines(), 1):
        if LEFTOVERS.search(line):
            yield f"{path}:{number}: unfinished work belongs into the issues, not into the code"
        if path.startswith("relay/") and SPRINTF.search(line):
            yield f"{path}:{number}: write text with fmt, or relay/text"
        if MACHINE_PATHS.search(line):
            yield f"{path}:{number}: names a path of one machine"


def check_folders(names):
    count = collections.Counter(name.rpartition("/")[0] for name in names if name.endswith(SOURCE_ENDINGS))
    for folder, files in count.items():
        if files > MAX_FILES:
            yield f"{folder}: {files} source files; look for the rooms in it (at most {MAX_FILES})"


def check_version(path, text, version):
    """A second place would have another version one day."""
    if path == "meson.build" or path.startswith("docs/"):
        return
    stated = re.compile(rf"(?i)(version|satrelay).*(?<![\d.]){re.escape(version)}(?![\d.])")
    for number, line in enumerate(text.splitlines(), 1):
        if stated.search(line):
            yield f"{path}:{number}: states the version, which only meson.build does; use relay/version"


def check(root):
    """All findings, as lines."""
    names = repository.tracked_files(root)
    files = set(names)
    project = (root / "meson.build").read_text() if "meson.build" in files else ""
    version = re.search(r"version: '([\d.]+)'", project)
    findings = list(check_folders(names))
    for path in names:
        if path in FOREIGN:
            continue
        data = (root / path).read_bytes()
        if b"\0" in data:
            continue
        text = data.decode("utf-8", errors="replace")
        findings += check_editor_settings(path, data)
        findings += check_text(path, text)
        findings += check_unit_test(path, files)
        if version is not None:
            findings += check_version(path, text, version.group(1))
        if repository.is_cpp(path):
            findings += check_includes(path, text, files)
            findings += check_test_namespace(path, text)
        if path.endswith(".h"):
            findings += check_header(path, text)
    return findings


if __name__ == "__main__":
    sys.exit(repository.report(check))
