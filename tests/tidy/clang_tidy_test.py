#!/usr/bin/env python3
"""clang-tidy finds in code of ours what it should, with own_declarations.cc as without it."""

import json
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
            pathlib.Path(folder, "lib.p/lib-unity0.cpp").write_text("#include</src/a.cc>\n#include</src/b.cc>\n")
            together = {"directory": folder, "file": "lib.p/lib-unity0.cpp",
                        "command": "g++ -Ilib.p -o lib.p/meson-generated_lib-unity0.cpp.o -c lib.p/lib-unity0.cpp"}
            alone = {"directory": folder, "file": "../main.cc", "command": "g++ -c ../main.cc"}
            made = clang_tidy.one_by_one([together, alone])
            self.assertEqual([each["file"] for each in made], ["/src/a.cc", "/src/b.cc", "../main.cc"])
            self.assertTrue(made[1]["command"].endswith(" -c /src/b.cc"))
            self.assertEqual(made[2], alone)

    def test_reads_a_trained_build(self):
        trained = {"directory": "/b", "file": "a.cc",
                   "command": "g++ -fprofile-use -fprofile-correction -O3 -fprofile-partial-training "
                              "-mmemcpy-strategy=libcall:-1:noalign -fPIC -c a.cc"}
        self.assertEqual(clang_tidy.untrained([trained]),
                         [trained | {"command": "g++ -O3 -fPIC -c a.cc"}])


if __name__ == "__main__":
    sys.exit(unittest.main())
