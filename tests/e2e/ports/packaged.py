"""The Debian packages of a commit, built by deploy/package.sh, and of the same commit with another version.

Both are built without training, since these tests measure no rates. They are kept in the folder packages/ of the build
folder. SATRELAY_PACKAGES may name a folder that has the packages of some commits already.
"""

import glob
import os
import shutil
import subprocess

from harness import REPOSITORY, Skip, build_folder, note

NAMES = ("satrelay", "satrelay-panel", "satrelay-tools", "satrelay-doc")
NEXT_VERSION = "99.0.0"


def git(clone: str, *argv: str) -> str:
    # Without this trust git refuses a tree that another user owns.
    trust = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    command = ["git", "-C", clone, *argv]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **trust})
    return done.stdout.strip()


def next_clone(folder: str) -> str:
    """A clone, in the folder, whose last commit differs from ours in the version only."""
    clone = os.path.join(folder, "next")
    try:
        git(folder, "clone", "--quiet", REPOSITORY, clone)
    except subprocess.CalledProcessError as error:
        raise Skip(f"this tree is no clone, and packages are built of a commit: {error.stderr}") from None
    path = os.path.join(clone, "meson.build")
    with open(path, encoding="utf-8") as file:
        meson = file.read()
    old = meson.split("  version: '", 1)[1].split("'", 1)[0]
    with open(path, "w", encoding="utf-8") as file:
        file.write(meson.replace(f"version: '{old}'", f"version: '{NEXT_VERSION}'", 1))
    when = git(clone, "log", "-1", "--format=%cI")
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    os.environ["GIT_COMMITTER_DATE"] = when  # so that the commit has the same name each time
    try:
        git(clone, *who, "commit", "--quiet", "--date", when, "--all", "--message", "the next version")
    finally:
        del os.environ["GIT_COMMITTER_DATE"]
    return clone


def packages_of(clone: str, suite: str = "bookworm") -> dict[str, str]:
    """The path of each package of the clone's present commit by its name."""
    if shutil.which("mmdebstrap") is None:
        raise Skip("mmdebstrap is not installed: deploy/setup.sh --test-programs")
    try:
        commit = git(clone, "rev-parse", "HEAD")
    except subprocess.CalledProcessError:
        raise Skip("this tree is no clone, and packages are built of a commit") from None
    kept = os.environ.get("SATRELAY_PACKAGES", os.path.join(build_folder(), "packages"))
    folder = os.path.join(kept, f"{suite}-{commit[:12]}")
    if not os.path.exists(os.path.join(folder, "complete")):
        note(f"building the packages of {commit[:8]} for {suite}")
        os.makedirs(folder, exist_ok=True)
        script = os.path.join(clone, "deploy", "package.sh")
        argv = [script, "--suite", suite, "--untrained", "--output", folder, commit]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"deploy/package.sh ended with {done.returncode}: {done.stdout}{done.stderr}")
        with open(os.path.join(folder, "complete"), "w", encoding="utf-8"):
            pass
    found = {name: glob.glob(os.path.join(folder, f"{name}_*.deb")) for name in NAMES}
    for name, paths in found.items():
        if len(paths) != 1:
            raise RuntimeError(f"{folder} has {len(paths)} packages {name}")
    return {name: paths[0] for name, paths in found.items()}


def field(package: str, name: str) -> str:
    return subprocess.run(["dpkg-deb", "-f", package, name], capture_output=True, text=True, check=True).stdout.strip()


def needed_by(packages: dict[str, str]) -> set[str]:
    """The packages that these depend on: of an alternative the first."""
    needed = set()
    for package in packages.values():
        for entry in field(package, "Depends").split(","):
            needed.add(entry.split("|")[0].split("(")[0].strip())
    return needed - set(packages) - {""}
