"""The Debian packages in a system that systemd has booted: installed, upgraded, downgraded, removed and purged while
frames pass, and on a full disk.

The guest has no network. So the packages that ours need are in its system before.
"""

import contextlib
import os
import re
import shutil
import time

import pytest
from harness import REPOSITORY, RealTime, build_folder, check, eventually, in_time, needs_root, note
from installed_system import CONFIG, FORWARDS, SLOW, UNIT, System, yaml_of
from lab.machine import make_work_folder
from packaged import NAMES, NEXT_VERSION, field, needed_by, next_clone, packages_of
from system_guest import SystemGuest, need_system_guest

SLOW_APT = 600  # seconds that apt-get may take on an emulated processor
APT = "DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends"

pytestmark = [needs_root, pytest.mark.long, pytest.mark.at_most(7200)]


class Packages:
    """The packages of two versions, in two folders of the guest."""

    def __init__(self, folder: str):
        self.sets = {"old": packages_of(REPOSITORY), "new": packages_of(next_clone(folder))}
        self.versions = {which: field(found["satrelay"], "Version") for which, found in self.sets.items()}

    def put(self, root: str) -> None:
        for which, found in self.sets.items():
            os.makedirs(f"{root}/packages/{which}")
            for package in found.values():
                shutil.copy(package, f"{root}/packages/{which}/")


@pytest.fixture(scope="module")
def installed():
    """A booted system with the older packages, whose gateway forwards."""
    need_system_guest()
    logs = os.path.join(build_folder(), "meson-logs")
    os.makedirs(logs, exist_ok=True)
    with contextlib.ExitStack() as stack:
        folder = make_work_folder("packages", 2_500_000_000)
        stack.callback(shutil.rmtree, folder)
        packages = Packages(folder)
        guest = SystemGuest(folder, os.path.join(logs, "guest-packages.log"))
        stack.callback(guest.stop)
        needed = needed_by(packages.sets["old"]) | needed_by(packages.sets["new"])
        guest.make_disk({*needed, "apt", "needrestart"}, packages.put)
        system = System(guest)
        system.packages = packages
        with in_time("the guest"):
            system.boot()
        yield system
        if guest.answers():
            note(system.journal()[-6000:])


def apt(system: System, words: str, which: str = "") -> str:
    """Runs apt-get with these words, on the packages of one version if it is named."""
    files = " ".join(f"/packages/{which}/{name}_*.deb" for name in NAMES) if which else ""
    return system.run(f"{APT} {words} {files}", SLOW_APT)


def version_of_running(system: System) -> str:
    return system.run(f"satrelayctl --config {CONFIG} status | grep ^version").split()[1]


def processes(system: System) -> tuple[int, int | None]:
    return system.supervisor(), system.gateway()


def panel_shows_the_peer(system: System) -> bool:
    return '"remote"' in system.attempt("curl -sS -m 5 http://127.0.0.1:8440/api/v1/overview")[1]


def emulator_has_crashed(item) -> bool:
    """Whether the emulator, and not the code under test, has failed the test (conftest.py)."""
    found = item.funcargs.get("installed") if item.funcargs else None
    return found is not None and found.guest.has_crashed()


def test_install(installed: System) -> None:
    """apt installs all four: users, folders, units, manual pages. Nothing is started."""
    system = installed
    apt(system, "install", "old")
    for user in ("satrelay", "satpanel"):
        system.run(f"getent passwd {user}")
    for name in ("satrelayd", "satrelayctl", "satrelay-supervise", "satpanel", "satlink", "satperf", "satlab"):
        system.run(f"{name} --version")
    system.run("test -d /etc/satrelay && test -e /usr/share/satrelay/bind-ports.sh && satrelay-bind-ports --help")
    status, text = system.attempt("systemctl list-units --plain --no-legend --all 'sat*' | grep active")
    check(status != 0, f"the installation has started: {text}")
    system.write(CONFIG, yaml_of())
    system.run(f"systemctl enable --now {UNIT} satpanel", 120)
    system.await_forwarding()
    system.check_forwards()
    eventually(lambda: panel_shows_the_peer(system), SLOW, "the panel shows the peer")


def change(system: System, which: str, words: str) -> None:
    """Another version is installed while the gateway runs, and takes over when the operator says so."""
    before = processes(system)
    mark = "# written by the operator\n"
    system.write(CONFIG, yaml_of() + mark)
    had = version_of_running(system)
    measured = RealTime()
    with system.pinging() as gap:
        text = apt(system, words, which)
        longest = gap()
    note(f"ping: {longest:.2f} s without an answer while apt-get installed {system.packages.versions[which]}")
    measured.check(longest < 1, f"{longest:.2f} s without an answer")
    check(processes(system) == before, f"the gateway was restarted: {before}, then {processes(system)}")
    check(UNIT in text, f"the installation does not say that {UNIT} goes on: {text}")
    check(mark.strip() in system.run(f"cat {CONFIG}"), f"{CONFIG} was overwritten")
    told = system.run(f"satrelayctl --config {CONFIG} status")
    check(f"version      {had}" in told, f"satrelayctl status: {told}")
    check(re.search("^waiting .* is installed", told, re.MULTILINE), f"satrelayctl status: {told}")
    # The new panel and the old gateway.
    eventually(lambda: panel_shows_the_peer(system), SLOW, "the new panel shows the peer of the old gateway")
    # needrestart finds that the program was replaced. It restarts other services.
    found = system.run("needrestart -b -r a -l 2>&1", 300)
    note(found)
    check(processes(system) == before, f"needrestart has restarted the gateway: {found}")
    system.check_forwards()


def check_changed(system: System, had: str) -> None:
    system.await_forwarding()
    system.check_forwards()
    check(version_of_running(system) != had, f"satrelayd {had} still runs")
    told = system.run(f"satrelayctl --config {CONFIG} status")
    check("waiting" not in told, f"satrelayctl status: {told}")


def test_upgrade(installed: System) -> None:
    had = version_of_running(installed)
    change(installed, "new", "install")
    # A gateway that fails is replaced by the new program, under the old supervisor.
    supervisor, gateway = processes(installed)
    installed.run(f"kill -KILL {gateway}")
    eventually(lambda: installed.gateway() not in (None, gateway), 60, "the gateway is started again")
    check_changed(installed, had)
    check(installed.supervisor() == supervisor, "the supervisor was started again, too")
    check(version_of_running(installed) == NEXT_VERSION, f"{version_of_running(installed)} runs")
    installed.run(f"systemctl restart {UNIT}", 120)
    check_changed(installed, had)


def test_downgrade(installed: System) -> None:
    change(installed, "old", "install --allow-downgrades")
    installed.run(f"systemctl restart {UNIT}", 120)
    check_changed(installed, NEXT_VERSION)


def test_full_disk(installed: System) -> None:
    """apt-get says so and fails, the gateway goes on, and the installation is completed later."""
    system = installed
    before = processes(system)
    try:
        # Root may fill the blocks that are reserved for it, too. 4 MB stay free, of more than 20 that are needed.
        system.run("fallocate -l $(($(stat -f -c '%f * %S' /) - 100000000)) /filled", 120)
        system.attempt("cat /dev/zero >/filled.rest", 300)
        system.run("truncate -s -4M /filled.rest")
        with system.pinging() as gap:
            files = " ".join(f"/packages/new/{name}_*.deb" for name in NAMES)
            status, text = system.attempt(f"dpkg -i {files}", SLOW_APT)
            longest = gap()
    finally:
        system.run("rm -f /filled /filled.rest")
    check(status != 0, f"dpkg has found room: {text}")
    check("No space left on device" in text, f"dpkg does not name the cause: {text}")
    note(f"ping: {longest:.2f} s without an answer while dpkg failed")
    check(processes(system) == before, "the gateway was restarted")
    system.check_forwards()
    system.run("dpkg --configure -a", SLOW_APT)
    apt(system, "install", "new")
    check(processes(system) == before, "the gateway was restarted")
    system.run(f"systemctl restart {UNIT}", 120)
    check(version_of_running(system) == NEXT_VERSION, "the completed installation is not the new one")


def test_remove_and_install_again(installed: System) -> None:
    """Frames pass without the programs, and an installation finds everything as it was."""
    system = installed
    measured = RealTime()
    with system.pinging() as gap:
        apt(system, "remove satrelay satrelay-panel")
        time.sleep(1)
        longest = gap()
    note(f"ping: {longest:.2f} s without an answer while the packages were removed")
    measured.check(longest < 1.5, f"{longest:.2f} s without an answer")
    system.check_joined("the packages are removed")
    system.run(f"test -e {CONFIG}")
    apt(system, "install", "new")
    system.run(f"systemctl start {UNIT} satpanel", 120)
    system.await_forwarding()
    system.check_forwards()


def test_reboot_after_changes(installed: System) -> None:
    installed.attempt("systemctl --no-block reboot")
    installed.guest.await_end()
    installed.boot()
    installed.await_forwarding()
    installed.check_forwards()


def test_purge_while_it_runs(installed: System) -> None:
    """Frames pass, the operator's files stay, and nothing else of the packages does."""
    system = installed
    system.run("install -d -o satrelay -g satrelay /var/lib/satrelay /var/log/satrelay; touch /var/lib/satrelay/flows")
    check(system.show("StatusText") == FORWARDS, "the gateway does not forward before")
    with system.pinging() as gap:
        text = apt(system, f"purge {' '.join(NAMES)}")
        time.sleep(1)
        longest = gap()
    note(f"ping: {longest:.2f} s without an answer while the packages were purged")
    system.check_joined("the packages are purged")
    check("/etc/satrelay is kept" in text, f"apt-get purge: {text}")
    system.run(f"test -e {CONFIG}")
    left = system.run(
        "find / -xdev -path /packages -prune -o -path /proc -prune -o -path /var/log/journal -prune -o "
        "\\( -name '*satrelay*' -o -name '*satpanel*' \\) -print", 300
    ).split()
    ours = [path for path in left if not re.match(r"/etc/satrelay$|/run/|/tmp/|/var/(cache|tmp)/", path)]
    check(not ours, f"the purge has left: {ours}")
    status, text = system.attempt("pgrep -x satrelayd || pgrep -x satrelay-superv")
    check(status != 0, f"a program still runs: {text}")
