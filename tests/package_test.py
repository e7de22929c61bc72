#!/usr/bin/env python3
"""The versions that deploy/package.sh gives to packages, and the arguments that it refuses. Nothing is built."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

DEPLOY = pathlib.Path(__file__).resolve().parent.parent / "deploy"
IDENTITY = {
    "GIT_AUTHOR_NAME": "test", "GIT_AUTHOR_EMAIL": "test@localhost",
    "GIT_COMMITTER_NAME": "test", "GIT_COMMITTER_EMAIL": "test@localhost",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}  # fmt: skip


class Clone(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="satrelay-package-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "deploy").mkdir()
        for name in ("package.sh", "progress.sh"):
            shutil.copy(DEPLOY / name, self.folder / "deploy")
        self.git("init", "--quiet")
        self.commit("1.8.0")

    def git(self, *argv: str) -> None:
        subprocess.run(["git", *argv], cwd=self.folder, check=True, env={**os.environ, **IDENTITY})

    def commit(self, version: str) -> None:
        meson = f"project('satrelay', 'cpp',\n  version: '{version}',\n  license: 'BSD-3-Clause')\n"
        (self.folder / "meson.build").write_text(meson, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", version)

    def call(self, *argv: str) -> subprocess.CompletedProcess:
        script = self.folder / "deploy" / "package.sh"
        return subprocess.run([script, *argv], capture_output=True, text=True, check=False)

    def version(self, *argv: str) -> str:
        done = self.call("--show-version", *argv)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def check_order(self, versions: list[str]) -> None:
        for earlier, later in zip(versions, versions[1:], strict=False):
            argv = ["dpkg", "--compare-versions", earlier, "lt", later]
            self.assertEqual(subprocess.run(argv, check=False).returncode, 0, f"{earlier} is not before {later}")


class TestVersions(Clone):
    def test_commits_before_at_and_behind_a_release_sort_in_their_order(self):
        self.commit("1.9.0")
        self.commit("1.9.0")
        self.git("tag", "1.9.0")
        self.assertEqual(self.version(), "1.9.0~deb12")
        self.assertEqual(self.version("--suite", "trixie"), "1.9.0~deb13")
        for _ in range(11):
            self.commit("1.9.0")
        self.commit("1.10.0")
        self.git("tag", "--annotate", "--message", "release", "1.10.0")
        self.commit("1.10.0")
        versions = [self.version(f"HEAD~{back}") for back in range(15, -1, -1)]
        self.assertEqual(versions[2], "1.9.0~deb12")
        self.assertEqual(versions[-2], "1.10.0~deb12")
        self.check_order(versions)
        self.check_order([self.version(), self.version("--suite", "trixie")])

    def test_a_build_without_training_sorts_before_the_other(self):
        self.check_order([self.version("--untrained"), self.version()])

    def test_another_tag_makes_no_release(self):
        self.git("tag", "1.7.0")
        self.assertRegex(self.version(), r"^1\.8\.0~1\.g[0-9a-f]{8}~deb12$")


class TestArguments(Clone):
    def test_wrong_ones_end_in_status_2(self):
        for argv in (["--suite", "sarge"], ["--suite"], ["--no-such"], ["--untrained", "--training", __file__]):
            done = self.call(*argv)
            self.assertEqual(done.returncode, 2, f"{argv}: {done.stderr}")
            self.assertTrue(done.stderr.strip(), argv)

    def test_no_such_commit(self):
        done = self.call("--show-version", "no-such-commit")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no such commit", done.stderr)

    def test_a_shallow_clone(self):
        """It would count only the commits that it has, and its versions would sort before earlier ones."""
        shallow = self.folder / "shallow"
        self.commit("1.8.0")
        self.git("clone", "--quiet", "--depth", "1", f"file://{self.folder}", str(shallow))
        done = subprocess.run([shallow / "deploy" / "package.sh", "--show-version"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("this clone is shallow", done.stderr)

    def test_a_folder_that_is_no_clone(self):
        shutil.rmtree(self.folder / ".git")
        done = self.call("--show-version")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is this a clone", done.stderr)

    def test_a_file_of_counts_that_is_missing(self):
        done = self.call("--training", "/nonexistent")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nonexistent cannot be read", done.stderr)


if __name__ == "__main__":
    unittest.main()
