"""While only the peer is unreachable, new TCP connections are bridged. Afterwards they are relayed again.

The far gateway is killed, and a plain kernel bridge takes its place. Frames still pass between the hosts, and STP gets
no answers.
"""

from harness import Lab, check, connection, converse, eventually, note


def test_peer_down(lab: Lab) -> None:
    near, far = lab.gateways
    converse(lab, 9001)
    check(near.counter("flows_established") == 1, "the first connection was not accelerated")

    far.daemon.kill()
    lab.bridge_in_kernel(far)
    seconds = eventually(
        lambda: near.peer()["state"] != "alive", 6, "gateway A misses its peer"
    )
    note(f"gateway A missed its peer after {seconds:.1f} s: {near.peer()['state']}")
    lab.warm_up()
    converse(lab, 9002)
    counters = near.counters()
    check(counters["flows_established"] == 1, "a flow was accelerated without a peer")
    check(counters["bridged_peer_down"] > 0, "nothing was counted as bridged_peer_down")

    # A flow that began bridged stays bridged to its end, also once the peer is back.
    with connection(lab, 9003) as (client, server):
        client.sendall(b"before")
        check(server.recv(10) == b"before", "bytes changed")
        lab.unbridge_in_kernel(far)
        far.start()
        lab.wait_for_peers()
        client.sendall(b"after")
        check(server.recv(10) == b"after", "bytes changed")
        server.sendall(b"reply")
        check(client.recv(10) == b"reply", "bytes changed")
        check(near.counter("flows_established") == 1, "a bridged flow was accelerated")
    converse(lab, 9004)
    check(near.counter("flows_established") == 2, "a returned peer was not used")
