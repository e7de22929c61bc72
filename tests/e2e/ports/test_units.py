"""satrelayd@.service and satpanel.service in a Debian that systemd has booted (system_guest.py): start, reload, stop,
mistakes, hanging processes, reboots and power cuts, inside the sandbox of the units.

No second gateway is there. Ping between the host and the modem shows that frames pass, and the interfaces show whether
the gateway or the kernel's bridge passes them.
"""

import contextlib
import json
import os
import re
import shutil
import time

import pytest
from harness import RealTime, build_folder, check, eventually, in_time, needs_root, note
from installed_system import CONFIG, FORWARDS, SLOW, UNIT, WIRES, System, yaml_of
from lab.machine import make_work_folder
from system_guest import MODEM, SystemGuest, need_system_guest

REFUSALS = ("Operation not permitted", "Permission denied", "Read-only file system")
# CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID, SETPCAP, NET_ADMIN, NET_RAW
CAPABILITIES = (0, 1, 3, 5, 6, 7, 8, 12, 13)

pytestmark = [needs_root, pytest.mark.long]


@pytest.fixture(scope="module")
def booted():
    """One guest for all cases, with the users that the installation needs and no gateway."""
    need_system_guest()
    logs = os.path.join(build_folder(), "meson-logs")
    os.makedirs(logs, exist_ok=True)
    with contextlib.ExitStack() as stack:
        folder = make_work_folder("units", 1_500_000_000)
        stack.callback(shutil.rmtree, folder)
        guest = SystemGuest(folder, os.path.join(logs, "guest-units.log"))
        stack.callback(guest.stop)
        guest.install()
        system = System(guest)
        with in_time("the guest"):
            system.boot()
        system.run("systemd-sysusers && mkdir /etc/satrelay")
        yield system


@pytest.fixture
def system(booted):
    """The gateway forwards with the usual configuration, from an earlier case or a new start."""
    is_usual = booted.attempt(f"cat {CONFIG}")[1].strip() == yaml_of().strip()
    if not is_usual or booted.show("StatusText") != FORWARDS or booted.show("ActiveState") != "active":
        booted.attempt(f"systemctl stop {UNIT}", 120)
        booted.write(CONFIG, yaml_of())
        booted.run(f"systemctl start {UNIT}", 120)
    yield booted
    if booted.guest.answers():
        note(booted.journal()[-6000:])


def emulator_has_crashed(item) -> bool:
    """Whether the emulator, and not the code under test, has failed the test (conftest.py)."""
    found = item.funcargs.get("booted") if item.funcargs else None
    return found is not None and found.guest.has_crashed()


def test_start(booted: System) -> None:
    """`systemctl enable --now` returns when the gateway forwards."""
    booted.write(CONFIG, yaml_of())
    # One command, so that no time passes between the start and the looks.
    look = f"systemctl show --value -p StatusText {UNIT}; ip netns exec host-0 ping -n -c 1 -W 1 {MODEM}"
    status, text = booted.attempt(f"systemctl enable --now {UNIT} && {{ {look}; }}", 120)
    check(status == 0, f"enable --now, or ping behind it, ended with status {status}: {text}")
    check(FORWARDS in text, f"the start has ended before the gateway forwards: {text}")
    booted.check_forwards()
    text = booted.run(f"systemctl status {UNIT}")
    check(f'Status: "{FORWARDS}"' in text, f"systemctl status does not tell it: {text}")
    check(booted.run(f"systemctl is-enabled {UNIT}").strip() == "enabled", "the unit is not enabled")
    text = booted.run(f"satrelayctl --config {CONFIG} status")
    check("uptime" in text, f"satrelayctl status says: {text}")


def test_rights(system: System) -> None:
    """The gateway is satrelay's and has no capability; the supervisor has only the capabilities of the unit."""
    gateway = system.gateway()
    for task in system.run(f"ls /proc/{gateway}/task").split():
        found = status_of(system, f"{gateway}/task/{task}")
        uid = system.run("id -u satrelay").strip()
        check(set(found["Uid"].split()) == {uid}, f"thread {task} has the users {found['Uid']}")
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            check(int(found[name], 16) == 0, f"thread {task} of the gateway has {name} {found[name]}")
        check(found["NoNewPrivs"] == "1" and found["Seccomp"] == "2", f"thread {task}: {found}")
    found = status_of(system, str(system.supervisor()))
    wanted = sum(1 << number for number in CAPABILITIES)
    check(int(found["CapEff"], 16) == wanted, f"the supervisor has CapEff {found['CapEff']}")
    check(int(found["CapBnd"], 16) == wanted, f"the supervisor has CapBnd {found['CapBnd']}")


def status_of(system: System, process: str) -> dict[str, str]:
    lines = system.run(f"cat /proc/{process}/status").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def test_ports_are_set_up(system: System) -> None:
    """Settings of interfaces are made inside the sandbox, and nothing is refused there."""
    for port in WIRES[0].ports:
        ipv6 = system.run(f"cat /proc/sys/net/ipv6/conf/{port}/disable_ipv6").strip()
        check(ipv6 == "1", f"disable_ipv6 of {port} is {ipv6}")
        arp = system.run(f"cat /proc/sys/net/ipv4/conf/{port}/arp_ignore").strip()
        check(arp == "8", f"arp_ignore of {port} is {arp}")
        mtu = json.loads(system.run(f"ip -j link show {port}"))[0]["mtu"]
        check(mtu == 1508, f"the MTU of {port} is {mtu}")
        status, _ = system.attempt(f"ip -4 address show dev {port} | grep inet")
        check(status != 0, f"{port} has an address")


def test_reload(system: System) -> None:
    """`systemctl reload` takes a good file over. It fails for another one, and the old configuration goes on."""
    gateway = system.gateway()
    rule = "rules:\n  - {name: marked, match: {port: 9003}, action: drop}\n  - {action: accelerate}\n"
    system.write(CONFIG, yaml_of(more=rule))
    status, text = system.attempt(f"systemctl reload {UNIT}")
    check(status == 0, f"a good file: status {status}: {text}\n{system.journal()}")
    eventually(lambda: "marked" in rules_of(system), 5, "the new rule is shown")
    since = system.now()
    system.write(CONFIG, yaml_of(more=rule + "no_such_key: 1\n"))
    status, text = system.attempt(f"systemctl reload {UNIT}")
    check(status != 0, "a wrong file: systemctl reload returned 0")
    told = system.journal(since=since)
    check(re.search(r"gateway.yaml:\d+", told), f"the journal does not name the file and the line: {told}")
    time.sleep(2)  # rules are shown once a second
    check("marked" in rules_of(system), "a refused file has changed the rules")
    check(system.gateway() == gateway, "the gateway was started anew")
    system.check_forwards()


def rules_of(system: System) -> str:
    return system.run(f"satrelayctl --config {CONFIG} rules")


def test_wrong_configuration(system: System) -> None:
    """The start fails once and for all, the ports are joined, and the journal names the place in the file."""
    system.run(f"systemctl stop {UNIT}")
    system.write(CONFIG, yaml_of(more="no_such_key: 1\n"))
    since = system.now()
    status, text = system.attempt(f"systemctl start {UNIT}", 120)
    check(status != 0, "systemctl start returned 0")
    check("journalctl" in text, f"systemctl says: {text}")
    check(system.show("ActiveState") == "failed", f"the unit is {system.show('ActiveState')}")
    system.check_joined("a wrong configuration")
    line = yaml_of().count("\n") + 1
    told = system.journal(since=since)
    check(f"{CONFIG}:{line}:" in told, f"the journal does not name {CONFIG}:{line}: {told}")
    time.sleep(5)
    check(system.show("NRestarts") == "0", f"it was started again {system.show('NRestarts')} times")
    check(system.show("ActiveState") == "failed", f"later the unit is {system.show('ActiveState')}")
    check(system.joined(), "later the ports are not joined")
    system.write(CONFIG, yaml_of())
    status, text = system.attempt(f"systemctl start {UNIT}", 120)
    check(status == 0, f"with the file corrected: status {status}: {text}")
    system.check_forwards()


def test_no_configuration(system: System) -> None:
    """An instance without a file fails once."""
    status, _ = system.attempt("systemctl start satrelayd@nothing", 120)
    check(status != 0, "systemctl start returned 0")
    time.sleep(3)
    check(system.show("NRestarts", "satrelayd@nothing") == "0", "it was started again")
    told = system.journal("satrelayd@nothing")
    check("/etc/satrelay/nothing.yaml" in told, f"the journal does not name the file: {told}")
    system.run("systemctl reset-failed satrelayd@nothing")


def test_interface_appears_later(system: System) -> None:
    """The start fails without an interface. systemd tries again, and the gateway comes up with the interface."""
    system.run(f"systemctl stop {UNIT}")
    system.run("ip link del wan0")
    since = system.now()
    status, _ = system.attempt(f"systemctl start {UNIT}", 120)
    check(status != 0, "systemctl start returned 0 without wan0")
    told = system.journal(since=since)
    check("wan0" in told, f"the journal does not name the interface: {told}")
    eventually(lambda: int(system.show("NRestarts")) >= 2, SLOW, "systemd tries again")
    system.run("test-wires wan0")
    took = eventually(lambda: system.show("StatusText") == FORWARDS, SLOW, "the gateway comes up")
    note(f"{took:.1f} s from the interface to the gateway")
    system.check_forwards()


def test_gateway_hangs(system: System) -> None:
    """The supervisor joins the ports within 10 s, and starts the gateway again."""
    supervisor, gateway = system.supervisor(), system.gateway()
    measured = RealTime()
    with system.pinging() as gap:
        system.run(f"kill -STOP {gateway}")
        eventually(lambda: system.gateway() not in (None, gateway), 40, "the gateway is started again")
        system.await_forwarding()
        time.sleep(1)
        longest = gap()
    note(f"ping: {longest:.1f} s without an answer when the gateway hung")
    measured.check(longest < 10, f"{longest:.1f} s without an answer")
    check(system.supervisor() == supervisor, "the supervisor was started again, too")
    system.check_forwards()


ABORT_SECONDS = 10  # TimeoutAbortSec= of the unit
FAILURES = {
    "killed": "kill -KILL {supervisor}",
    # It goes on when systemd sends SIGTERM, with SIGCONT behind it.
    "stopped": "kill -STOP {supervisor}",
    # It may stop its gateway, and not come to join the ports.
    "stopped-for-good": "(while kill -STOP {supervisor}; do sleep 0.01; done) >/dev/null 2>&1 &",
}


@pytest.mark.parametrize("how", FAILURES)
def test_supervisor_fails(system: System, how: str) -> None:
    """systemd notices a supervisor that is killed or hangs, joins the ports, and starts it again."""
    supervisor = system.supervisor()
    since = system.now()
    measured = RealTime()
    with system.pinging() as gap:
        system.run(FAILURES[how].format(supervisor=supervisor))
        eventually(
            lambda: system.supervisor() not in (0, supervisor), 90, "the supervisor is started again"
        )
        system.await_forwarding()
        time.sleep(1)
        longest = gap()
    note(f"ping: {longest:.1f} s without an answer when the supervisor was {how}")
    told = system.journal(since=since)
    check("are left alone" not in told, f"the ports were in use when systemd joined them: {told}")
    # A real processor starts a program ten times as fast.
    most = 5 + (ABORT_SECONDS if how == "stopped-for-good" else 0)
    measured.check(longest < most, f"{longest:.1f} s without an answer")
    if how == "stopped":
        check("it is killed" not in told, f"the gateway was not stopped in order: {told}")
    system.check_forwards()
    check(len(system.run("pgrep -x satrelayd").split()) == 1, "two gateways run")


def test_stop(system: System) -> None:
    measured = RealTime()
    with system.pinging() as gap:
        status, text = system.attempt(f"systemctl stop {UNIT}", 60)
        check(status == 0, f"systemctl stop: status {status}: {text}")
        time.sleep(1)
        longest = gap()
    note(f"ping: {longest:.1f} s without an answer when the gateway was stopped")
    measured.check(longest < 1, f"{longest:.1f} s without an answer")
    check(system.show("Result") == "success", f"the result is {system.show('Result')}")
    system.check_joined("a stopped gateway")
    check(system.show("StatusText") != FORWARDS, "systemctl status says that a stopped gateway forwards")
    for port in WIRES[0].ports:
        mtu = json.loads(system.run(f"ip -j link show {port}"))[0]["mtu"]
        check(mtu == 1500, f"the MTU of {port} is {mtu}")


def test_drain(system: System) -> None:
    """A gateway that an operator has drained ends for good, and its ports are joined."""
    system.run(f"satrelayctl --config {CONFIG} drain")
    eventually(lambda: system.show("ActiveState") == "inactive", SLOW, "the unit ends")
    time.sleep(3)
    check(system.show("ActiveState") == "inactive", "it was started again")
    system.check_joined("a drained gateway")


def test_files(system: System) -> None:
    """Journal and records of flows in /var/lib/satrelay, which belongs to the gateway's user."""
    system.run(f"systemctl stop {UNIT}; install -d -o satrelay -g satrelay -m 750 /var/lib/satrelay")
    more = "journal: /var/lib/satrelay/flows\nrecords: {file: /var/lib/satrelay/flows.json}\n"
    system.write(CONFIG, yaml_of(more=more))
    status, text = system.attempt(f"systemctl start {UNIT}", 120)
    check(status == 0, f"status {status}: {text}\n{system.journal()}")
    for name in ("flows", "flows.json"):
        eventually(lambda: system.attempt(f"test -e /var/lib/satrelay/{name}")[0] == 0, 10, f"{name} is there")
    owner = system.run("stat -c %U /var/lib/satrelay/flows.json").strip()
    check(owner == "satrelay", f"flows.json belongs to {owner}")
    system.check_forwards()


def test_panel(system: System) -> None:
    """satpanel.service as it is shipped answers with the gateway's state, as the user satpanel."""
    status, text = system.attempt("systemctl enable --now satpanel", 60)
    check(status == 0, f"status {status}: {text}")
    get = "curl -sS -m 5 http://127.0.0.1:8440"
    eventually(lambda: system.attempt(f"{get}/")[0] == 0, SLOW, "the panel answers")
    eventually(lambda: '"remote"' in system.attempt(f"{get}/api/v1/overview")[1], SLOW, "the panel shows the peer")
    user = system.run(f"ps -o user= -p {system.supervisor('satpanel')}").strip()
    check(user == "satpanel", f"the panel runs as {user}")
    told = system.journal("satpanel")
    check("no gateway" not in told, f"the panel finds no gateway: {told}")


def test_panel_for_a_web_server(system: System) -> None:
    """With the shipped drop-in, the panel listens at a socket that the group of nginx can use."""
    drop_ins = "/etc/systemd/system/satpanel.service.d"
    path = "/run/satpanel/panel.sock"
    users = "/etc/satrelay/users.yaml"
    ask = f"curl -sS -m 5 -o /dev/null -w %{{http_code}} --unix-socket {path} http://panel.example/"

    def asks(as_user: str) -> tuple[int, str]:
        return system.attempt(f"setpriv --reuid={as_user} --regid={as_user} --clear-groups {ask}")

    system.run(f"echo 'correct horse' | satpanel user add ann --role administrator --users {users}")
    system.run(f"install -D -m 644 -t {drop_ins} /usr/local/share/satrelay/nginx/satpanel-socket.conf")
    try:
        system.run("systemctl daemon-reload && systemctl restart satpanel", 60)
        eventually(lambda: asks("www-data")[1].endswith("200"), SLOW, "the panel answers nginx")
        told = system.run(f"stat -c '%U %G %a' {path}").strip()
        check(told == "satpanel www-data 660", f"the socket is {told}")
        status, text = asks("daemon")
        check(status != 0, f"another user gets in: {text}")
        system.run(f"kill -9 {system.supervisor('satpanel')}")
        eventually(lambda: asks("www-data")[1].endswith("200"), SLOW, "the panel answers after it was killed")
        told = system.journal("satpanel")
        check(not any(refusal in told for refusal in REFUSALS), told)
    finally:
        system.run(f"rm -r {drop_ins} && systemctl daemon-reload && systemctl restart satpanel", 60)


def test_two_gateways(system: System) -> None:
    """Two gateways with ports and sockets of their own."""
    system.run(f"systemctl stop {UNIT}", 60)
    names = ("a", "b")
    units = " ".join(f"satrelayd@{name}" for name in names)
    for number, name in enumerate(names):
        prefix = f"stats_socket_prefix: satrelay-{name}\n"
        system.write(f"/etc/satrelay/{name}.yaml", yaml_of(number, prefix))
    try:
        status, text = system.attempt(f"systemctl start {units}", 120)
        check(status == 0, f"status {status}: {text}")
        for wire, name in zip(WIRES, names, strict=True):
            system.check_forwards(f"satrelayd@{name}", wire)
            text = system.run(f"satrelayctl --config /etc/satrelay/{name}.yaml status")
            check("uptime" in text, f"satrelayctl status of {name}: {text}")
        system.run("systemctl stop satrelayd@a", 60)
        system.check_joined("the first gateway is stopped", WIRES[0])
        system.check_forwards("satrelayd@b", WIRES[1])
    finally:
        for name in names:
            note(system.journal(f"satrelayd@{name}"))
        system.attempt(f"systemctl stop {units}", 60)


def test_reboot(system: System) -> None:
    system.run(f"systemctl enable {UNIT}")
    system.attempt("systemctl --no-block reboot")
    system.guest.await_end()
    system.boot()
    system.await_forwarding()
    system.check_forwards()
    check_enabled_units_run(system)


def test_power_cut(system: System) -> None:
    system.run(f"systemctl enable {UNIT}; sync")
    system.guest.power_off()
    system.boot()
    system.await_forwarding()
    system.check_forwards()
    check_enabled_units_run(system)


def check_enabled_units_run(system: System) -> None:
    failed = system.run("systemctl --failed --plain --no-legend").strip()
    check(not failed, f"after the boot these units have failed: {failed}")


def test_sandbox_refuses_nothing(system: System) -> None:
    """In all cases before, the kernel has refused nothing to the programs."""
    units = [UNIT, "satpanel", "satrelayd@a", "satrelayd@b"]
    which = " ".join(f"-u {unit}" for unit in units)
    told = system.run(f"journalctl --no-pager {which}")
    found = [line for line in told.splitlines() if any(words in line for words in REFUSALS)]
    check(not found, "\n".join(["something was refused:", *found]))
