#!/usr/bin/python3 -SE
"""Takes the place of meson and ninja for run_test.py: it keeps the state of a build folder, and compiles nothing.

The options and the files generated from them are two files in the folder, as with Meson. If `meson configure` changes
options, ninja generates the second file anew. STUB_STOP=POINT ends the caller, as a power cut would. STUB_WAIT=POINT
waits there, with its process number in the file STUB_PID. STUB_EMPTY=SUITE is a suite without a test. With
STUB_UNCOUNTED a training counts nothing.
"""

import json
import os
import signal
import sys
import time

TESTS = {"unit": ["unit-a", "unit-b"], "sim": ["sim-a", "sim-b", "sim-c"], "tidy": ["tidy-a"]}


def stop_at(point: str) -> None:
    if os.environ.get("STUB_STOP") == point:
        os.killpg(0, signal.SIGKILL)
    if os.environ.get("STUB_WAIT") == point:
        with open(os.environ["STUB_PID"], "w", encoding="ascii") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(30)


def path(folder: str, *names: str) -> str:
    made = os.path.join(folder, *names)
    os.makedirs(os.path.dirname(made), exist_ok=True)
    return made


def write(file: str, value) -> None:
    with open(file, "w", encoding="utf-8") as out:
        json.dump(value, out)


def read(file: str):
    with open(file, encoding="utf-8") as text:
        return json.load(text)


def given(words: list[str]) -> dict:
    pairs = (word[2:].split("=", 1) for word in words if word.startswith("-D"))
    return {name: {"true": True, "false": False}.get(value, value) for name, value in pairs}


def generate(folder: str) -> dict:
    options = read(path(folder, "meson-private", "coredata.dat"))
    write(path(folder, "build.ninja"), options)
    return options


def setup(words: list[str]) -> int:
    folder, core = words[-2], path(words[-2], "meson-private", "coredata.dat")
    if os.path.exists(core):
        print("Directory already configured.")
        return 0
    write(core, {"tests": True, "b_pgo": "off", **given(words)})
    stop_at("setup")
    generate(folder)
    return 0


def configure(words: list[str]) -> int:
    core = path(words[-1], "meson-private", "coredata.dat")
    write(core, read(core) | given(words))
    if given(words).get("tests"):
        stop_at("adding")
    return 0


def introspect(words: list[str]) -> int:
    core = os.path.join(words[-1], "meson-private", "coredata.dat")
    if not os.path.exists(core):
        return 1
    print(json.dumps([{"name": name, "value": value} for name, value in read(core).items()]))
    return 0


def test(words: list[str]) -> int:
    folder = words[words.index("-C") + 1]
    suites = [words[at + 1] for at, word in enumerate(words) if word == "--suite"]
    has_tests = read(os.path.join(folder, "build.ninja"))["tests"]
    found = [
        (suite, name)
        for suite in suites
        for name in TESTS[suite]
        if has_tests and suite != os.environ.get("STUB_EMPTY")
    ]
    if not found:
        print("No suitable tests defined.")
        return 1
    if "--list" in words:
        print("\n".join(f"satrelay:{suite} / {name}" for suite, name in found))
        return 0
    compiled = os.path.exists(os.path.join(folder, "compiled"))
    wrapper = os.path.basename(words[words.index("--wrapper") + 1].split()[0])
    name = f'{words[words.index("--logbase") + 1]}-{wrapper}.json'
    with open(path(folder, "meson-logs", name), "w", encoding="utf-8") as log:
        for suite, name in found:
            if name not in words:
                continue
            entry = {"name": f"satrelay:{suite} / {name}", "result": "OK" if compiled else "FAIL"}
            entry |= {"starttime": 0, "duration": 0, "returncode": 0 if compiled else 1, "stdout": ""}
            print(json.dumps(entry), file=log)
    return 0 if compiled else 1


def ninja(words: list[str]) -> int:
    folder = words[words.index("-C") + 1] if "-C" in words else "."
    options = generate(folder)
    if options["b_pgo"] == "generate":
        stop_at("training")
        bench = path(folder, "tests", "bench", "bench_gateway")
        with open(bench, "w", encoding="utf-8") as script:
            script.write("#!/bin/sh\n" + ("" if "STUB_UNCOUNTED" in os.environ else "touch counts.gcda\n"))
        os.chmod(bench, 0o755)
        return 0
    stop_at("compiling")
    write(path(folder, "targets"), words[words.index("-C") + 2 :])
    if options["tests"] and words[-1] == folder:
        write(path(folder, "compiled"), True)
    return 0


def main() -> int:
    if os.path.basename(sys.argv[0]) == "ninja":
        return ninja(sys.argv[1:])
    commands = {each.__name__: each for each in (setup, configure, introspect, test)}
    return commands[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
