#!/usr/bin/env python3
"""links.py finds links that lead nowhere in a small tree made for it, and accepts all other links."""

import pathlib
import tempfile
import unittest

import links

GUIDE = "# Guide\n\n## The `first` link, and more\n\n## Twice\n\n## Twice\n"


class LinksTest(unittest.TestCase):
    def findings(self, text, source=""):
        """Findings in docs/a.md with this text, and in a source file, beside docs/guide.md."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "docs/a.md").write_text(text)
            (root / "docs/guide.md").write_text(GUIDE)
            (root / "README.md").write_text("# Read me\n")
            (root / "relay").mkdir()
            (root / "relay/a.cc").write_text(source)
            return links.check(root)

    def test_links_that_lead_somewhere(self):
        for link in ["guide.md", "guide.md#the-first-link-and-more", "guide.md#twice-1", "#here", "../README.md",
                     "../docs", "https://example.org/none.md", "mailto:a@example.org"]:
            self.assertEqual(self.findings(f"# Here\n\nSee [it]({link}).\n"), [], link)

    def test_links_that_lead_nowhere(self):
        for link in ["gone.md", "guide.md#gone", "guide.md#twice-2", "#gone", "../docs/gone/a.md", "docs/guide.md"]:
            found = self.findings(f"# Here\n\nSee [it]({link}).\n")
            self.assertEqual(len(found), 1, link)
            self.assertTrue(found[0].startswith("docs/a.md:3: "), found)

    def test_tables_lists_and_bold_text_have_links_too(self):
        for line in ["| [a](gone.md) | b |", "- [a](gone.md)", "1. a\n   [b](gone.md)", "- a\n  - b\n    [c](gone.md)",
                     "**[a](gone.md)**"]:
            self.assertEqual(len(self.findings(line + "\n")), 1, line)

    def test_code_has_none(self):
        for text in ["`[a](gone.md)`", "    [a](gone.md)", "- a\n\n      [b](gone.md)"]:
            self.assertEqual(self.findings(text + "\n"), [], text)

    def test_pages_that_a_program_names(self):
        for page in ["guide.md", "guide.md#twice-1"]:
            self.assertEqual(self.findings("# Here\n", f'page = "{page}";\n'), [], page)
        for page in ["gone.md", "guide.md#gone"]:
            found = self.findings("# Here\n", f'\npage = "{page}";\n')
            self.assertEqual(len(found), 1, page)
            self.assertTrue(found[0].startswith("relay/a.cc:2: "), found)


if __name__ == "__main__":
    unittest.main()
