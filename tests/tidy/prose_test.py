#!/usr/bin/env python3
"""prose.py finds the sentences of comments, docs and texts, and counts those that hide the actor."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import prose

SOURCE = '''// The worker sends the frame. Of what came, this stays: Who is it?
// What it does is a riddle; nobody knows.
#include "a/b.h"
int a;  // whose value is unknown
const char* text = "What remains is "
                   "dropped by somebody";
const char* short_text = "Of two";
'''


class ProseTest(unittest.TestCase):
    def test_sentences(self):
        text = "One is here. Two: and three; `x. y` is code! 5.5 s are no end? (Six here)"
        self.assertEqual(list(prose.sentences(text)),
                         ["One is here.", "and three;", "X is code!", "5.5 s are no end?", "Six here)"])

    def test_comments_and_strings_of_a_source(self):
        found = [(text.kind, sentence) for text in prose.texts("relay/x.cc", SOURCE)
                 for sentence in prose.sentences(text.text)]
        self.assertEqual(found, [
            ("comments", "The worker sends the frame."), ("comments", "Of what came, this stays:"),
            ("comments", "Who is it?"), ("comments", "What it does is a riddle;"), ("comments", "nobody knows."),
            ("comments", "whose value is unknown"), ("strings", "What remains is dropped by somebody")])

    def test_python_shell_and_documents(self):
        python = '"""Says what.\n\nMore."""\nx = 1  # a comment here\n# and one there\n'
        self.assertEqual([text.text.split() for text in prose.texts("x.py", python)],
                         [["Says", "what.", "More."], ["a", "comment", "here", "and", "one", "there"]])
        self.assertEqual([text.text for text in prose.texts("x.sh", "#!/bin/sh\n# first line\n# second\necho # no\n")],
                         ["first line second"])
        document = ("# A heading\n\n- One entry\n  goes on.\n- Another\n\n    code is left out of it\n\n"
                    "| a cell of words | b |\n")
        self.assertEqual([text.text for text in prose.texts("x.md", document)],
                         ["A heading", "One entry goes on.", "Another", "code is left out of it", " a cell of words "])

    def test_limits(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "docs").mkdir()
            lines = ["The worker sends a frame.\n"] * 100
            (root / "docs/a.md").write_text("".join(lines))
            subprocess.run(["git", "-C", name, "init", "-q"], check=True)
            subprocess.run(["git", "-C", name, "add", "."], check=True)
            self.assertEqual(prose.check(root), [])
            (root / "docs/a.md").write_text("".join(lines) + "Of two nobody is one. Of none somebody is.\nWho comes?\n")
            self.assertEqual(prose.check(root), [
                "docs in all rooms: 2 of 103 sentences begin with Of; at most 1",
                "docs in all rooms: 2 of 103 sentences who, whose, nobody, somebody; at most 1",
                "docs in docs: 2 of 103 sentences begin with Of; at most 1",
                "docs in docs: 2 of 103 sentences who, whose, nobody, somebody; at most 1"])


if __name__ == "__main__":
    sys.exit(unittest.main())
