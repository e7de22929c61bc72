#!/usr/bin/env python3
"""Who may use the sockets of a gateway, and what it keeps of root's rights."""

import os
import shutil
import subprocess
import tempfile

from harness import GatewayOptions, check, converse, main, make_lab, note

GROUP = "games"  # one that every Debian has
STRANGER = "nobody"


def ask(lab, gateway, *words: str, group: str | None) -> subprocess.CompletedProcess:
    """What satrelayctl says to somebody who is in that group, or in none that matters."""
    # The build may stand where only its owner may go.
    with tempfile.TemporaryDirectory(prefix="satrelay-access-") as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy(lab.programs.satrelayctl, folder)
        return subprocess.run(
            [program, "--socket", gateway.stats_socket, *words],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=20,
            user=STRANGER,
            group="nogroup",
            extra_groups=[group] if group else [],
        )


def sockets() -> None:
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
        check(ask(lab, near, "bypass", "off", group=GROUP).returncode == 0, "bypass off")


def an_unknown_group_is_a_mistake() -> None:
    with make_lab() as lab:
        path = lab.gateway_a.config_path + ".wrong"
        with open(lab.gateway_a.config_path, encoding="ascii") as file:
            yaml = file.read()
        with open(path, "w", encoding="ascii") as file:
            file.write(yaml + "access: {control: {group: nobody-has-this}}\n")
        program = lab.gateway_a.daemon.argv[0]
        done = subprocess.run([program, "-c", path, "--check"], capture_output=True, text=True)
        check(done.returncode == 2, f"exit status {done.returncode}")
        check('no group "nobody-has-this"' in done.stderr, done.stderr)


def owners_only() -> None:
    with make_lab() as lab:
        near = lab.gateway_a
        for words in (("status",), ("bypass", "on")):
            refused = ask(lab, near, *words, group=GROUP)
            check(refused.returncode == 1, f"{words}: {refused.stdout}")
        check(near.query("status")["new_flows"] == "open", "a stranger has switched it")


def capabilities() -> None:
    with make_lab() as lab:
        near = lab.gateway_a
        converse(lab, 9001)
        tasks = os.listdir(f"/proc/{near.daemon.pid}/task")
        check(len(tasks) > 2, f"{len(tasks)} threads are fewer than DPDK makes")
        for task in tasks:
            with open(f"/proc/{near.daemon.pid}/task/{task}/status", encoding="ascii") as file:
                lines = dict(line.split(":", 1) for line in file)
            left = {key: lines[key].strip() for key in ("CapPrm", "CapEff", "CapInh", "CapAmb")}
            check(set(left.values()) == {"0" * 16}, f"thread {lines['Name'].strip()} has {left}")
            check(lines["NoNewPrivs"].strip() == "1", "it could gain more by executing")
        note(f"{len(tasks)} threads without capabilities")
        check("capabilities kept: none" in near.daemon.log(400), "the log does not say so")
        # What needs rights at its end needs them no more.
        check(near.daemon.stop() == 0, "it does not stop in order")


if __name__ == "__main__":
    main(sockets, an_unknown_group_is_a_mistake, owners_only, capabilities)
