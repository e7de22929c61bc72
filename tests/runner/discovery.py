"""Which tests there are: Meson's, clang-tidy's and the end-to-end scripts."""

import json
import os
import subprocess
from dataclasses import dataclass, field

# The usual ones, in the order of their running, and those that take long and are asked for by name.
USUAL_SUITES = ["unit", "sim", "tidy", "e2e"]
SUITES = [*USUAL_SUITES, "lint", "sanitize"]


@dataclass
class Test:
    name: str
    suite: str
    command: list[str]
    folder: str
    timeout: float
    environment: dict[str, str] = field(default_factory=dict)
    parallel: bool = False
    as_invoker: bool = True  # e2e tests keep root


def meson_tests(build: str) -> list[Test]:
    text = subprocess.run(
        ["meson", "introspect", "--tests", build], check=True, capture_output=True, text=True
    ).stdout
    tests = []
    for entry in json.loads(text):
        name = entry["name"]
        named = [suite.rpartition(":")[2] for suite in entry["suite"]] + [name.partition("-")[0]]
        suite = next((suite for suite in named if suite in USUAL_SUITES), "unit")
        tests.append(
            Test(
                name=name,
                suite=suite,
                command=entry["cmd"],
                folder=entry["workdir"] or build,
                # Meson's limit is for an idle machine; 0 is none.
                timeout=(entry["timeout"] or 1200) * 4,
                environment=entry["env"],
                parallel=entry["is_parallel"],
            )
        )
    return tests


def is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def clang_tidy(root: str, build: str, known: list[Test]) -> list[Test]:
    script = os.path.join(root, "tests", "tidy", "clang_tidy.sh")
    if not is_program(script) or any(script in test.command for test in known):
        return []
    return [Test("lint-clang-tidy", "lint", [script, build], root, timeout=2400)]


def end_to_end(root: str, build: str) -> list[Test]:
    folder = os.path.join(root, "tests", "e2e")
    tests = []
    for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = os.path.join(folder, entry)
        if not entry.startswith("test_") or not is_program(path):
            continue
        name = "e2e-" + os.path.splitext(entry)[0].removeprefix("test_").replace("_", "-")
        environment = {"SATRELAY_BUILD": build}
        tests.append(Test(name, "e2e", [path], root, 400, environment, as_invoker=False))
    return tests


def sanitized(build: str) -> list[Test]:
    """Unit and simulation tests of a build with sanitizers: lints and network timing gain nothing."""
    tests = [test for test in meson_tests(build) if test.suite in ("unit", "sim")]
    for test in tests:
        test.name = "sanitize-" + test.name
        test.suite = "sanitize"
        test.timeout *= 5  # the slower build deserves more time
    return tests


def all_tests(root: str, build: str | None, sanitized_build: str | None) -> list[Test]:
    tests = []
    if build is not None:
        tests = meson_tests(build)
        tests += clang_tidy(root, build, tests)
        tests += end_to_end(root, build)
    if sanitized_build is not None:
        tests += sanitized(sanitized_build)
    return sorted(tests, key=lambda test: SUITES.index(test.suite))
