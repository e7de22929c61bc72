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


def git(*argv: str, index: str = "", text: str = "") -> str:
    # A tree that another user owns is as good as our own: nothing in it is run by git.
    command = ["git", "-c", "safe.directory=*", "-C", REPOSITORY, *argv]
    environment = {**os.environ, **({"GIT_INDEX_FILE": index} if index else {})}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, input=text)
    return done.stdout.strip()


def this_commit() -> str:
    try:
        return git("rev-parse", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        raise Skip("this tree is no clone, and packages are built of a commit") from None


def next_commit(folder: str) -> str:
    """A commit that differs from this one in the version only. No branch has it."""
    index = os.path.join(folder, "index")
    commit = this_commit()
    meson = git("show", f"{commit}:meson.build")
    old = meson.split("  version: '", 1)[1].split("'", 1)[0]
    changed = meson.replace(f"version: '{old}'", f"version: '{NEXT_VERSION}'", 1) + "\n"
    git("read-tree", commit, index=index)
    blob = git("hash-object", "-w", "--stdin", text=changed)
    git("update-index", "--cacheinfo", f"100644,{blob},meson.build", index=index)
    tree = git("write-tree", index=index)
    os.unlink(index)
    when = git("log", "-1", "--format=%cI", commit)
    dates = ["env", f"GIT_AUTHOR_DATE={when}", f"GIT_COMMITTER_DATE={when}"]
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "safe.directory=*"]
    made = subprocess.run(
        [*dates, "git", *who, "-C", REPOSITORY, "commit-tree", tree, "-p", commit, "-m", "the next version"],
        capture_output=True, text=True, check=True,
    )
    return made.stdout.strip()


def packages_of(commit: str, suite: str = "bookworm") -> dict[str, str]:
    """The path of each package by its name."""
    if shutil.which("mmdebstrap") is None:
        raise Skip("mmdebstrap is not installed: deploy/setup.sh --test-programs")
    kept = os.environ.get("SATRELAY_PACKAGES", os.path.join(build_folder(), "packages"))
    folder = os.path.join(kept, f"{suite}-{commit[:12]}")
    if not os.path.exists(os.path.join(folder, "complete")):
        note(f"building the packages of {commit[:8]} for {suite}")
        os.makedirs(folder, exist_ok=True)
        script = os.path.join(REPOSITORY, "deploy", "package.sh")
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
