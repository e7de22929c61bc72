"""Which programs golden_run.py takes for the same."""
import contextlib
import io
import pathlib
import tempfile
import unittest

import golden_run


class GoldenRun(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def program(self, name, text):
        path = pathlib.Path(self.folder.name, name)
        path.write_text(f"#!/bin/sh\nseed=$5\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def run_both(self, before, after, *options):
        """Returns the exit status, and the output."""
        before, after = self.program("before", before), self.program("after", after)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = golden_run.main([before, after, "--profile", "usual", "--seeds", "3", *options])
        return status, printed.getvalue()

    def test_the_same_is_no_difference(self):
        self.assertEqual(self.run_both("echo frame $seed", "echo frame $seed"), (0, "usual: 3 seeds, 0 differ\n"))

    def test_a_seed_that_differs_is_named_with_its_line(self):
        status, printed = self.run_both("echo one; echo $seed", "echo one; echo $seed | tr 2 9")
        self.assertEqual(status, 1)
        self.assertIn("3 seeds, 1 differ\n  seed 2, line 2\n    before: 2\n    after:  9", printed)

    def test_a_trace_that_ends_sooner_differs(self):
        status, printed = self.run_both("echo one; echo two", "echo one")
        self.assertEqual(status, 1)
        self.assertIn("after:  (nothing)", printed)

    def test_a_promise_that_one_breaks_is_a_difference(self):
        status, printed = self.run_both("echo one", "echo one; exit 1")
        self.assertEqual(status, 1)
        self.assertIn("after:  exit status 1", printed)

    def test_images_are_for_the_second_program(self):
        shown = 'shift 6; echo "$*"'
        status, printed = self.run_both(shown, shown, "--images", "2")
        self.assertEqual(status, 1)
        self.assertIn("before: \n    after:  --images 2", printed)

    def test_one_that_cannot_be_run_is_no_result(self):
        for text in ("exit 0", "echo one; exit 2", "echo one; echo broken >&2"):
            with self.assertRaises(golden_run.NotRun):
                self.run_both(text, text)


if __name__ == "__main__":
    unittest.main()
