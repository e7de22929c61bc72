"""paper_figures.py finds each kind of figure that differs from the program's."""

import pathlib
import subprocess
import sys
import unittest

SCRIPT = pathlib.Path(__file__).with_name("paper_figures.py")
sys.path.insert(0, str(SCRIPT.parent.parent))
import temporary  # noqa: E402

# Takes the place of satlab: one case of each kind.
SATLAB = """#!/usr/bin/env python3
import json, sys
rows = [
    {"case": "3 MB", "unit": "s", "bound": 12.3391, "ours": 12.4361, "target": 12.6},
    {"case": "Jain index", "unit": "", "bound": 1, "ours": 0.99972, "target": None},
]
json.dump({"rows": rows}, open(sys.argv[sys.argv.index("--json") + 1], "w"))
sys.exit(1 if "--missed" in sys.argv else 0)
"""

DOCUMENT = """| paper | case | bound | measured | goal |
|---|---|---|---|---|
| `small` | 3 MB | 12.34 s | 12.44 s | 12.60 s |
| `small` | Jain index | 1.000 | 0.9997 |  |
| `other` | 3 MB | 1.000 s | 2.000 s | 3.000 s |
"""


class PaperFigures(unittest.TestCase):
    def run_script(self, document, *options):
        with temporary.folder_of_programs("satrelay-figures-") as folder:
            satlab = pathlib.Path(folder) / "satlab"
            satlab.write_text(SATLAB)
            satlab.chmod(0o755)
            text = pathlib.Path(folder) / "measurements.md"
            text.write_text(document)
            return subprocess.run([sys.executable, SCRIPT, satlab, text, "small", *options],
                                  capture_output=True, text=True, check=False)

    def fails(self, document, message, *options):
        run = self.run_script(document, *options)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn(message, run.stdout)

    def changed(self, old, new, message):
        self.assertEqual(DOCUMENT.count(old), 1)
        self.fails(DOCUMENT.replace(old, new), message)

    def test_true_figures_pass(self):
        run = self.run_script(DOCUMENT)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_a_stale_figure_of_each_column_fails(self):
        self.changed("12.34 s", "12.35 s", '"3 MB", bound: has "12.35 s" instead of "12.34 s"')
        self.changed("12.44 s", "12.42 s", '"3 MB", ours: has "12.42 s" instead of "12.44 s"')
        self.changed("12.60 s", "12.70 s", '"3 MB", target: has "12.70 s" instead of "12.60 s"')
        self.changed("0.9997", "0.9999", 'has "0.9999" instead of "0.9997"')

    def test_a_figure_may_not_hide_behind_its_rounding(self):
        self.changed("12.44 s", "12 s", "is less precise than 12.44")

    def test_a_figure_without_its_unit_or_with_another_fails(self):
        self.changed("12.44 s", "12.44", 'has "12.44" instead of "12.44 s"')
        self.changed("12.44 s", "12.44 ms", 'has "12.44 ms" instead of "12.44 s"')

    def test_what_is_missing_or_too_much_fails(self):
        self.changed("| 0.9997 |", "|  |", 'has "" instead of 0.99972')
        self.changed("0.9997 |  |", "0.9997 | 0.99 |", "there is no such figure")
        self.changed("| Jain index", "| Jain's index", 'there is no row "Jain index"')
        self.fails(DOCUMENT + "| `small` | gone | 1.000 s | 1.000 s | 1.000 s |\n",
                   '"gone" is no case of it')

    def test_a_part_of_the_cases_needs_no_other_rows(self):
        run = self.run_script(DOCUMENT + "| `small` | long | 1.000 s | 1.000 s | 1.000 s |\n",
                              "--case", "3 MB")
        self.assertEqual(run.returncode, 0, run.stdout)

    def test_a_target_that_is_missed_fails(self):
        self.assertEqual(self.run_script(DOCUMENT, "--missed").returncode, 1)

    def test_two_rows_of_one_case_fail(self):
        run = self.run_script(DOCUMENT + "| `small` | 3 MB | 12.34 s | 12.44 s | 12.60 s |\n")
        self.assertEqual(run.returncode, 1)
        self.assertIn("two rows", run.stderr)


if __name__ == "__main__":
    unittest.main()
