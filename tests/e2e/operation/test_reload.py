"""satrelayctl reload and SIGHUP: a configuration is taken over whole or not at all, and no flow is lost."""

import os
import signal

from harness import Lab, check, connection, control, converse, echo, eventually


def test_reload(lab: Lab) -> None:
    near = lab.gateway_a
    with connection(lab, 9001) as (client, server):
        echo(client, server, b"before")

        with open(near.config_path, encoding="ascii") as file:
            yaml = file.read()

        def reconfigure(text: str):
            with open(near.config_path, "w", encoding="ascii") as file:
                file.write(text)
            return control(lab, near, "reload")

        refused = reconfigure(yaml + "compress_level: 3\n")
        check(refused.returncode == 1, "a change that needs a restart was taken")
        check("needs a restart: compress_level" in refused.stderr, refused.stderr)
        refused = reconfigure(yaml + "limits: [\n")
        check(refused.returncode == 1, "nonsense was taken")
        check(f"{near.config_path}:" in refused.stderr, refused.stderr)
        refused = reconfigure(yaml + "tcp: {ecn: maybe}\nnonsense: 1\n")
        told = refused.stderr.splitlines()
        check(len(told) == 3 and told[2] == "2 mistakes", refused.stderr)
        check(": tcp.ecn: " in told[0] and ": nonsense: " in told[1], refused.stderr)
        check("reload: 2 mistakes" in near.daemon.log(), near.daemon.log())
        eventually(lambda: "(2 mistakes; the first: " in near.daemon.log(), 5, "the event")
        rules = yaml.replace("rules:", "rules:\n  - {match: {port: 9003}, action: bridge}", 1)
        check(rules != yaml, "the lab's configuration has no rules")
        done = reconfigure(rules)
        check(done.returncode == 0, done.stderr)
        converse(lab, 9003)
        check(near.counter("bridged_by_rule") >= 1, "the new rule does not hold")
        reconfigured = near.counter("flows_accepted")
        with open(near.config_path, "w", encoding="ascii") as file:
            file.write(yaml)
        os.kill(near.daemon.pid, signal.SIGHUP)
        eventually(
            lambda: near.daemon.log(400).count("reload: done") == 2, 5, "SIGHUP reloads"
        )
        converse(lab, 9003)
        check(near.counter("flows_accepted") == reconfigured + 1, "the old rules do not hold")
        echo(client, server, b"still here")
        check(near.counter("flows_established") == 2, "the old flow was lost")
