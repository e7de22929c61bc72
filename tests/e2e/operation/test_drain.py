"""satrelayctl bypass and drain on running gateways, and their effect on old and on new flows."""

import subprocess
import time

from harness import Lab, check, connection, converse, echo, eventually, note, receive_all, tell


def test_bypass(lab: Lab) -> None:
    near, far = lab.gateways
    with connection(lab, 9001) as (client, server):
        echo(client, server, b"before")
        tell(lab, far, "bypass", "on")
        eventually(lambda: near.peer()["new_flows"] == "bypass", 5, "A hears of the bypass")
        converse(lab, 9002)
        check(near.counter("bridged_peer_bypass") >= 1, "not bridged for the peer's bypass")
        check(near.counter("flows_accepted") == 1, "a flow was accelerated in spite of it")
        tell(lab, far, "bypass", "off")
        eventually(lambda: near.peer()["new_flows"] == "open", 5, "A hears of its end")
        echo(client, server, b"behind")
        converse(lab, 9003)
        check(near.counter("flows_established") == 2, "it is not accelerated again")


def test_drain(lab: Lab) -> None:
    near, far = lab.gateways
    with connection(lab, 9001) as (client, server):
        echo(client, server, b"before")
        process = subprocess.Popen(
            [lab.programs.satrelayctl, "--socket", far.stats_socket, "drain"],
            stdout=subprocess.PIPE,
            text=True,
        )
        eventually(lambda: near.peer()["new_flows"] == "draining", 5, "A hears of the drain")
        converse(lab, 9002)
        check(near.counter("flows_accepted") == 1, "a flow was accelerated in spite of it")
        time.sleep(2)
        check(far.daemon.running(), "the gateway did not wait for its flow")
        echo(client, server, b"behind")
        client.shutdown(1)
        check(receive_all(server) == b"", "bytes from nowhere")
        server.shutdown(1)
        check(receive_all(client) == b"", "bytes from nowhere")
    began = time.monotonic()
    text = process.communicate(timeout=30)[0]
    note(f"the gateway stopped {time.monotonic() - began:.1f} s after its last flow")
    check(process.returncode == 0 and "draining: 1 left" in text and "stopped" in text, text)
    eventually(lambda: not far.daemon.running(), 5, "the daemon ends")
    check(far.daemon.exit_status() == 0, f"exit status {far.daemon.exit_status()}")
    check(near.counter("flows_reset_peer_closed") == 0, "a flow was lost")
