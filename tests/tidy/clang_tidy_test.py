#!/usr/bin/env python3
"""clang-tidy finds what it should in our code, with own_declarations.cc and without it."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import clang_tidy
import repository

HEADER = """#pragma once
#include <string>
inline int BadName(int value) { return value; }
template <typename Value>
struct Holder {
  Holder(Value value) : held{value} {}
  Value held;
};
"""
SOURCE = """#include <string>
#include <utility>
#include <vector>
#include "tests/found.h"
using std::pair;
namespace satrelay {
namespace {
#define COUNT(name) int name = 0
COUNT(BadVariable);
struct Base {
  virtual void act() = 0;
};
template <typename Value>
bool is_empty(const std::vector<Value>& values) {
  return values.size() == 0;
}
}  // namespace
extern "C" {
typedef int number;
}
int length(std::string text) {
  auto twice = [](std::vector<int> values) { return values.size() * 2; };
  std::string taken = std::move(text);
  struct Inner {
    int Member = 0;
  };
  return static_cast<int>(text.size() + twice({Inner{}.Member, BadVariable}) + is_empty<int>({}));
}
}  // namespace satrelay
"""
EXPECTED = {
    "found.h": {"readability-identifier-naming", "google-explicit-constructor"},
    "found.cc": {"misc-unused-using-decls", "readability-identifier-naming", "modernize-use-using",
                 "cppcoreguidelines-virtual-class-destructor", "readability-container-size-empty",
                 "performance-unnecessary-value-param", "bugprone-use-after-move"},
}


def findings(tool, options, folder):
    done = subprocess.run(
        [tool, *options, "-p", str(folder), f"--config-file={repository.ROOT / '.clang-tidy'}",
         *clang_tidy.ARGUMENTS, str(folder / "found.cc")], capture_output=True, text=True, check=False)
    return {(pathlib.Path(name).name, line, check) for name, line, checks in
            re.findall(r"^(\S+?):(\d+):\d+: error: .* \[([^\]]+)\]$", done.stdout, re.MULTILINE)
            for check in checks.split(",") if check != "-warnings-as-errors"}


class ClangTidyTest(unittest.TestCase):
    def test_findings(self):
        tool = clang_tidy.tool_of_environment()
        if tool is None:
            self.skipTest("clang-tidy is not installed")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "tests").mkdir()
            (folder / "tests/found.h").write_text(HEADER)
            (folder / "found.cc").write_text(SOURCE)
            (folder / "compile_commands.json").write_text(json.dumps([{
                "directory": name, "file": str(folder / "found.cc"),
                "command": f"g++ -std=c++20 -I{name} -c found.cc"}]))
            alone = findings(tool, [], folder)
            for file, checks in EXPECTED.items():
                self.assertLessEqual(checks, {check for at, _, check in alone if at == file})
            options = clang_tidy.plugin(tool, folder)
            if options:
                self.assertEqual(findings(tool, options, folder), alone)

    def test_reads_alone_what_is_compiled_together(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "lib.p").mkdir()
            pathlib.Path(folder, "lib.p/lib-unity0.cpp").write_text("#include</src/a.cc>\n#include</my src/b.cc>\n")
            together = {"directory": folder, "file": "lib.p/lib-unity0.cpp",
                        "command": "g++ -Ilib.p -o lib.p/meson-generated_lib-unity0.cpp.o -c lib.p/lib-unity0.cpp"}
            alone = {"directory": folder, "file": "../main.cc", "command": "g++ -c ../main.cc"}
            made = clang_tidy.one_by_one([together, alone])
            self.assertEqual([each["file"] for each in made], ["/src/a.cc", "/my src/b.cc", "../main.cc"])
            self.assertTrue(made[1]["command"].endswith(" -c '/my src/b.cc'"))
            self.assertEqual(made[2], alone)

    def test_what_has_changed_and_a_part(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name).resolve()
            files = [root / f"{letter}.cc" for letter in "abcdefghijklmnopqrst"]
            inputs = {path: {path} for path in files}
            commands = dict.fromkeys(files, "g++")
            (root / "a.h").write_text("int a;")
            (root / "only.h").write_text("int only;")
            inputs[files[0]] |= {root / "a.h"}
            inputs[files[1]] |= {root / "a.h"}
            inputs[files[2]] |= {root / "only.h"}
            for path in files:
                path.write_text("int x;")

            def git(*words, day="2026-01-01T00:00:00Z"):
                subprocess.run(["git", "-C", name, "-c", "user.name=x", "-c", "user.email=x@example.com", *words],
                               check=True, capture_output=True,
                               env=os.environ | {"GIT_AUTHOR_DATE": day, "GIT_COMMITTER_DATE": day})

            def checked(rotation=0, base=None):
                return set(clang_tidy.part(commands, inputs, root, rotation, base)[0])

            self.assertEqual(checked(), set(files))  # without git
            git("init", "-q", "-b", "main")
            git("add", ".")
            git("commit", "-q", "-m", "first")
            self.assertEqual(checked(), set(files))  # nothing older
            turns = [checked(turn, "HEAD") for turn in range(clang_tidy.PARTS)]
            self.assertEqual(sum(map(len, turns)), len(files))
            self.assertEqual(set.union(*turns), set(files))
            self.assertEqual(checked(clang_tidy.PARTS, "HEAD"), turns[0])

            def changes(*named, base=None):
                self.assertEqual(checked(0, base), turns[0] | {root / each for each in named})

            (root / "a.h").write_text("int a2;")
            git("commit", "-q", "-a", "-m", "its twin", day="2026-01-03T00:00:00Z")
            changes("a.cc")
            (root / "only.h").write_text("int only2;")
            git("commit", "-q", "-a", "-m", "who includes it", day="2026-01-03T01:00:00Z")
            changes("a.cc", "c.cc")
            files[3].write_text("int y;")
            changes("a.cc", "c.cc", "d.cc")
            git("tag", "v1", "HEAD~1")
            changes("c.cc", "d.cc")
            git("branch", "upstream", "HEAD")
            git("commit", "-q", "-a", "-m", "d")
            git("branch", "-q", "--set-upstream-to", "upstream")
            changes("d.cc")
            changes("c.cc", "d.cc", base="v1")
            with self.assertRaises(SystemExit):
                checked(0, "nonsense")
            git("tag", "v2")
            files[4].write_text("int  x;  // a comment\n")
            (root / "a.h").write_text("int a2; // NOLINT")
            changes("a.cc", "c.cc", "d.cc", base="v1^")
            changes("a.cc", base="v2")

    def test_the_code_of_a_file(self):
        code = clang_tidy.code_of
        self.assertEqual(code('#include "a/b.h"\nint a;  // one\n// two\n'), code('#include "c.h"\nint a;\n'))
        self.assertNotEqual(code("int a;  // NOLINT"), code("int a;"))
        self.assertNotEqual(code('f("// x");'), code('f("// y");'))
        self.assertNotEqual(code("#include <map>"), code("#include <set>"))

    def test_reads_a_trained_build(self):
        trained = {"directory": "/b", "file": "a.cc",
                   "command": "g++ -fprofile-use -fprofile-correction -O3 -fprofile-partial-training "
                              "-mmemcpy-strategy=libcall:-1:noalign -fPIC -c a.cc"}
        self.assertEqual(clang_tidy.untrained([trained]),
                         [trained | {"command": "g++ -O3 -fPIC -c a.cc"}])


if __name__ == "__main__":
    sys.exit(unittest.main())
