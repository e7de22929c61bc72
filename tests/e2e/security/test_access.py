"""Which users may use the sockets of a gateway, and which of root's rights the gateway keeps."""

import os
import pwd
import subprocess

import pytest
from harness import (
    Lab,
    GatewayOptions,
    check,
    connection,
    control,
    control_as,
    converse,
    echo,
    eventually,
    make_lab,
    note,
    tell,
)
from lab.machine import gateway_user

GROUP = "games"  # a group that every Debian has
STRANGER = "bin"
ANOTHER = "daemon"  # a user that every Debian has


def ask(lab, gateway, *words: str, group: str | None) -> subprocess.CompletedProcess:
    """Runs satrelayctl as a stranger in that group, or only in groups without rights."""
    return control_as(lab, gateway, *words, user=STRANGER, group=group)


def test_sockets() -> None:
    options = GatewayOptions(
        access={"stats": f"{{group: {GROUP}}}", "control": f"{{group: {GROUP}}}"}
    )
    with make_lab(options=options) as lab:
        near = lab.gateway_a
        for words in (("status",), ("bypass", "on")):
            done = ask(lab, near, *words, group=GROUP)
            check(done.returncode == 0, f"{words} for a member: {done.stderr}")
            refused = ask(lab, near, *words, group=None)
            check(refused.returncode == 1, f"{words} for a stranger: {refused.stdout}")
            check("ermission" in refused.stderr, f"{words} for a stranger: {refused.stderr}")
        check(near.query("status")["new_flows"] == "bypass", "the member was not heard")
        # Gateways of other tests may run, too: then satrelayctl names all of them.
        found = ask(lab, None, "status", group=GROUP)
        names_it = near.stats_socket in found.stderr
        check(found.returncode == 0 or names_it, f"a member does not find it: {found.stderr}")
        check(ask(lab, near, "bypass", "off", group=GROUP).returncode == 0, "bypass off")


def test_an_unknown_group_is_a_mistake(lab: Lab) -> None:
    path = lab.gateway_a.config_path + ".wrong"
    with open(lab.gateway_a.config_path, encoding="ascii") as file:
        yaml = file.read()
    with open(path, "w", encoding="ascii") as file:
        file.write(yaml + "access: {control: {group: nobody-has-this}}\n")
    program = lab.gateway_a.daemon.argv[0]
    done = subprocess.run([program, "-c", path, "--check"], capture_output=True, text=True)
    check(done.returncode == 2, f"exit status {done.returncode}")
    check('no group "nobody-has-this"' in done.stderr, done.stderr)


def test_owners_only(lab: Lab) -> None:
    near = lab.gateway_a
    for words in (("status",), ("bypass", "on")):
        refused = ask(lab, near, *words, group=GROUP)
        check(refused.returncode == 1, f"{words}: {refused.stdout}")
    check(near.query("status")["new_flows"] == "open", "a stranger has switched it")


def threads_of(daemon) -> list[dict[str, str]]:
    """The status of each thread in /proc."""
    threads = []
    for task in os.listdir(f"/proc/{daemon.pid}/task"):
        with open(f"/proc/{daemon.pid}/task/{task}/status", encoding="ascii") as file:
            fields = (line.split(":", 1) for line in file)
            threads.append({key: value.strip() for key, value in fields})
    check(len(threads) > 2, f"{len(threads)} threads are fewer than DPDK makes")
    return threads


def check_user(daemon, user: pwd.struct_passwd) -> None:
    """Checks that no thread is root's any more, may become root's, or has any of root's rights."""
    groups = sorted(os.getgrouplist(user.pw_name, user.pw_gid))
    for thread in threads_of(daemon):
        name = thread["Name"]
        check(thread["Uid"].split() == [str(user.pw_uid)] * 4, f"{name} is {thread['Uid']}")
        check(thread["Gid"].split() == [str(user.pw_gid)] * 4, f"{name}: group {thread['Gid']}")
        has = sorted(int(group) for group in thread["Groups"].split())
        check(has == groups, f"{name} is in the groups {has} instead of {groups}")
        left = {key: thread[key] for key in ("CapPrm", "CapEff", "CapInh", "CapAmb")}
        check(set(left.values()) == {"0" * 16}, f"{name} has {left}")
        check(thread["NoNewPrivs"] == "1", f"{name} could gain more by executing")
    # The memory of a process that leaves no core belongs to root.
    check(os.stat(f"/proc/{daemon.pid}/mem").st_uid == 0, "its user may look into its memory")
    note(f"{len(threads_of(daemon))} threads are {user.pw_name}'s, and without capabilities")


def test_rights(lab: Lab) -> None:
    near = lab.gateway_a
    converse(lab, 9001)
    check_user(near.daemon, gateway_user())
    check("capabilities kept: none" in near.daemon.log(400), "the log does not say so")
    # The gateway needs no rights for its clean-up.
    check(near.daemon.stop() == 0, "it does not stop in order")
    left = os.listdir(os.path.dirname(near.stats_socket))
    check(left == ["lock"], f"it leaves {left} behind")


def test_another_user(lab: Lab) -> None:
    """The configuration names another user. Root takes back the folder of the user before."""
    near = lab.gateway_a
    check(near.daemon.stop() == 0, "it does not stop in order")
    with open(near.config_path, "a", encoding="ascii") as file:
        file.write(f"access: {{user: {ANOTHER}, control: {{group: {GROUP}}}}}\n")
    near.start()
    lab.wait_for_peers()
    check_user(near.daemon, pwd.getpwnam(ANOTHER))
    check(ask(lab, near, "bypass", "on", group=GROUP).returncode == 0, "the group was not heard")
    check(ask(lab, near, "bypass", "off", group=GROUP).returncode == 0, "bypass off")
    converse(lab, 9001)


def test_an_unknown_user_is_a_mistake(lab: Lab) -> None:
    near = lab.gateway_a
    check(near.daemon.stop() == 0, "it does not stop in order")
    with open(near.config_path, "a", encoding="ascii") as file:
        file.write("access: {user: nobody-has-this}\n")
    for options in (["--check"], []):
        done = subprocess.run([*near.daemon.argv, *options], capture_output=True, text=True)
        check(done.returncode == 2, f"exit status {done.returncode}")
        check(f"{near.config_path}:" in done.stderr, f"no place: {done.stderr}")
        check('no user "nobody-has-this"' in done.stderr, done.stderr)


@pytest.mark.lab(options=GatewayOptions(security="psk"))
def test_without_rights_everything_goes_on(lab: Lab) -> None:
    """Tests a reload with its key, a copy of the journal, and commands; test_capture has the capture."""
    near = lab.gateway_a
    check(near.daemon.stop() == 0, "it does not stop in order")
    copy = os.path.join(lab.folder, "flows")
    with open(near.config_path, "a", encoding="ascii") as file:
        file.write(f"journal: {copy}\n")
    near.start()
    lab.wait_for_peers()
    tell(lab, near, "reload")
    with connection(lab, 9001) as ends:
        echo(*ends, b"once")
        began = os.stat(copy).st_mtime_ns
        eventually(lambda: os.stat(copy).st_mtime_ns > began, 5, "the journal is copied")
    # Root has read the key, but the gateway's user cannot. The gateway says so at start-up and at the reload.
    os.chmod(lab.psk_file, 0o600)
    refused = control(lab, near, "reload")
    check(refused.returncode == 1, "a key that cannot be read was taken over")
    check("Permission denied" in refused.stderr and "0640" in refused.stderr, refused.stderr)
    check(near.daemon.stop() == 0, "it does not stop in order")
    near.start()
    check(f"{lab.psk_file} can no longer be read" in near.daemon.log(), "no warning")
    lab.wait_for_peers()
    converse(lab, 9002)
