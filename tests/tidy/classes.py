#!/usr/bin/env python3
"""Checks the size of classes: at most 45 methods and 20 data members each.

Usage: classes.py [ROOT] [--table]. Counted are declarations in the class, and those in structs that stand inside it
and are private: only the class uses them. A method that is defined in the class counts, too. Constructors, destructors,
operators and friends do not. `--table` prints the largest classes. Exit status 1 if one is too large.
"""

import re
import sys

import repository

MOST_METHODS = 45
MOST_MEMBERS = 20

FIGURES = "a record of figures, which one function fills and others show"
STATE = "the state of one object, which several units change"
TOGETHER = "several units in one class: divide it before it gets another member"

# Classes that may be larger, each with its limits (methods, members) and the reason. A limit is the size that the class
# has today: the class may shrink, and not grow.
EXCEPTIONS = {
    "config/model/schema.h:Gateway": (45, 23, TOGETHER),
    "pep/stp/connection/key_exchange.h:KeyExchange": (45, 24, TOGETHER),
    "pep/stp/path/path_mtu.h:PathMtu": (45, 27, TOGETHER),
    "pep/stp/counters.h:Counters": (45, 64, FIGURES),
    "pep/stp/fec/fec_receiver.h:FecReceiver": (45, 32, TOGETHER),
    "pep/stp/fec/fec_sender.h:FecSender": (45, 35, TOGETHER),
    "pep/stp/fec/prompt_sender.h:PromptSender": (45, 23, TOGETHER),
    "pep/stp/path/rate_gate.h:RateGate": (45, 22, TOGETHER),
    "pep/stp/streams/stream.h:Stream": (45, 29, STATE),
    "pep/tcp/counters.h:Counters": (45, 29, FIGURES),
    "relay/gateway/addresses/lan/lan_neighbours.h:LanNeighbours": (45, 30, TOGETHER),
    "relay/gateway/addresses/wan_node.h:WanNode": (45, 28, TOGETHER),
    "relay/gateway/flows/flow.h:FlowRare": (45, 24, STATE),
    "relay/gateway/flows/flow_record.h:FlowRecord": (45, 22, FIGURES),
    "relay/gateway/flows/table/time_waits.h:TimeWaits": (45, 22, TOGETHER),
    "relay/gateway/frames/fragments/reassembly.h:Reassembly": (45, 39, TOGETHER),
    "relay/gateway/opening/desync_detector.h:DesyncDetector": (45, 26, TOGETHER),
    "relay/gateway/peers/control_messages.h:ControlMessages": (45, 33, TOGETHER),
    "relay/gateway/recovery/orphaned_flows.h:OrphanedFlows": (45, 24, TOGETHER),
    "relay/gateway/shares/rate_shares.h:RateShares": (45, 27, TOGETHER),
    "relay/gateway/snapshot.h:FlowSnapshot": (45, 36, FIGURES),
    "relay/gateway/snapshot.h:PeerSnapshot": (45, 29, FIGURES),
    "relay/gateway/steering/steering.h:Steering": (45, 22, TOGETHER),
    "relay/gateway/uplink/held_frames.h:HeldFrames": (45, 53, TOGETHER),
    "relay/link/link_direction.h:LinkDirection": (45, 22, TOGETHER),
    "relay/ops/events/watch.h:Watch": (45, 38, TOGETHER),
    "relay/satpanel/http/http_server.cc:HttpServer::Impl": (45, 38, TOGETHER),
    "relay/satperf/run.h:Run": (45, 25, TOGETHER),
    "relay/satperf/snapshot.h:Snapshot": (45, 29, FIGURES),
    "relay/satrelayctl/main.cc:Program": (45, 24, TOGETHER),
    "relay/satrelayd/workers/worker.h:Worker": (45, 28, TOGETHER),
    "relay/sim/adversaries/hostile_terminal.h:HostileTerminal": (45, 23, TOGETHER),
    "relay/sim/hosts/application.h:Outcome": (45, 26, FIGURES),
    "relay/sim/hosts/host.h:SimHost": (45, 25, TOGETHER),
    "relay/sim/scenarios/scenario.h:Scenario": (45, 26, FIGURES),
}

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'')
HEAD = re.compile(r"\b(class|struct)\s+(?:\[\[\w+\]\]\s+)?((?:\w+::)*\w+)\s*(?:final\s*)?(?::[^;{}]*)?\{")
CONSTANT = re.compile(r"^(static\s+)?(inline\s+)?(static\s+)?constexpr\b|"
                      r"^(constinit\s+|inline\s+)+static|^static\s+const")


def matching(text, at):
    """The index behind the brace that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] == "{":
            depth += 1
        elif text[i] == "}":
            depth -= 1
            if depth == 0:
                return i + 1
    return len(text)


def statements(body):
    """The declarations of a class body, without the bodies of functions."""
    start = at = 0
    while at < len(body):
        char = body[at]
        if char == "{":
            end = matching(body, at)
            before = body[start:at]
            rest = body[end:end + 200].lstrip()
            # `int a{0};`, a list behind `=`, a nested type with members, or a function.
            is_function = ")" in before and not re.search(r"=\s*$", before)
            if is_function and not rest.startswith((";", ",", "{")):
                yield before.strip()
                start = at = end
                continue
            at = end
            continue
        if char == ";":
            yield body[start:at].strip()
            start = at + 1
        elif char == ":" and re.search(r"\b(public|private|protected)\s*$", body[start:at]):
            yield body[start:at].strip() + ":"
            start = at + 1
        at += 1


def without_templates(text):
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>()]*(?:\([^<>()]*\)[^<>()]*)*>", "", text)
    return text


def member_names(plain):
    """The names that a declaration of data members declares."""
    plain = re.sub(r"\{[^{}]*\}", "", plain)
    pieces = [re.split(r"=|(?<!:):(?!:)", piece)[0].strip() for piece in re.sub(r"\([^()]*\)", "", plain).split(",")]
    found = [re.search(r"(\w+)(?:\[\w*\])?$", piece) for piece in pieces]
    return [match.group(1) for match in found if match]


class Counted:
    def __init__(self, name):
        self.name = name
        self.methods = 0
        self.members = 0
        self.names = []  # of the members


def measure_body(name, kind, body):
    """The count of the class, and of the types in it."""
    counted, found = Counted(name), []
    is_private = kind == "class"
    for text in statements(body):
        if text in ("public:", "protected:", "private:"):
            is_private = text == "private:"
            continue
        nested = re.match(r"^(?:template\s*<.*?>\s*)?(class|struct|enum|union)\b", text)
        if nested:
            inner = HEAD.match(text[text.find(nested.group(1)):])
            if inner and nested.group(1) in ("class", "struct"):
                at = text.find("{")
                part, deeper = measure_body(f"{name}::{inner.group(2)}", nested.group(1), text[at + 1:text.rfind("}")])
                found += [part, *deeper]
                if is_private and nested.group(1) == "struct":
                    counted.methods += part.methods
                    counted.members += part.members
                trailing = text[text.rfind("}") + 1:].strip()
                counted.members += len(trailing.split(",")) if trailing else 0
            continue
        plain = without_templates(re.sub(r"\[\[\w+\]\]", "", text)).strip()
        if not plain or re.match(r"^(using|friend|typedef|static_assert|template\s+using)\b", plain):
            continue
        plain = re.sub(r"^template\s*", "", plain)
        plain = re.sub(r"(\)(?:\s*(?:const|noexcept|override|final|&|&&|=\s*\w+))+)$", ")", plain)
        if re.search(r"\boperator\b", plain) or "~" in plain.split("(")[0]:
            continue
        left = re.split(r"=(?!=)", plain)[0] if "(" not in re.split(r"=(?!=)", plain)[0] else plain
        if "(" in re.sub(r"\{.*\}", "", left, flags=re.DOTALL) and not re.match(r".*\)\s*\w+_?$", left, re.DOTALL):
            called = re.search(r"(\w+)\s*\(", left)
            if called and called.group(1) == name.rsplit("::", 1)[-1]:
                continue  # a constructor
            counted.methods += 1
        elif not CONSTANT.match(plain):
            counted.names += member_names(plain)
            counted.members += 1 + len(re.findall(r",\s*\w+\s*(?:=|$|\{)", re.sub(r"\{[^}]*\}", "{", plain)))
    return counted, found


def classes(text):
    plain = TEXT.sub('""', COMMENT.sub("", text))
    plain = re.sub(r"^\s*#.*(?:\\\n.*)*$", "", plain, flags=re.MULTILINE)
    at = 0
    while match := HEAD.search(plain, at):
        if re.search(r"\benum\s*$", plain[:match.start()]):
            at = match.end()
            continue
        end = matching(plain, match.end() - 1)
        counted, found = measure_body(match.group(2), match.group(1), plain[match.end():end - 1])
        yield counted
        yield from found
        at = end


def measure(root):
    found = []
    for path in repository.tracked_files(root):
        if not repository.is_cpp(path) or path.startswith("tests/"):
            continue
        text = (root / path).read_text(errors="replace")
        found += [(counted, path) for counted in classes(text)]
    return found


def check(root):
    findings = []
    left = dict(EXCEPTIONS)
    for counted, path in measure(root):
        methods, members, _ = left.pop(f"{path}:{counted.name}", (MOST_METHODS, MOST_MEMBERS, ""))
        if counted.methods > methods or counted.members > members:
            findings.append(f"{path}: {counted.name} has {counted.methods} methods and {counted.members} members; "
                            f"at most {methods} and {members}")
        is_small = counted.methods <= MOST_METHODS and counted.members <= MOST_MEMBERS
        if is_small and f"{path}:{counted.name}" in EXCEPTIONS:
            findings.append(f"tests/tidy/classes.py: {counted.name} needs no exception any more")
    if root == repository.ROOT:
        findings += [f"tests/tidy/classes.py: there is no class {name}" for name in left]
    return findings


def main():
    if "--table" in sys.argv:
        rows = sorted(measure(repository.ROOT), key=lambda row: (-row[0].methods, -row[0].members))
        for counted, path in rows:
            if counted.methods > MOST_METHODS * 2 // 3 or counted.members > MOST_MEMBERS * 2 // 3:
                print(f"{counted.methods:4} methods {counted.members:4} members  {counted.name}  {path}")
        return 0
    return repository.report(check)


if __name__ == "__main__":
    sys.exit(main())
