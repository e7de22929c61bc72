"""Gateway A in a guest, on PCI devices bound to vfio-pci: how NICs' drivers differ from kernel ports.

QEMU emulates three NICs for which DPDK has drivers. None of them has rte_flow, and e1000e and vmxnet3 deliver to one
queue.
"""

import contextlib
import subprocess

import pytest
from harness import (
    ACCELERATED_PORT,
    BRIDGED_PORT,
    check,
    check_memory_returns,
    connection,
    echo,
    eventually,
    in_time,
    needs_root,
    note,
    was_reset,
    watch,
)
from lab import kernel
from lab.topology import CLIENT, SERVER
from lab.web import Web
from nic_lab import BIND, NicKind, NicLab

SIZE = 1_500_000
GUEST_ADDRESS = "203.0.113.77"
KINDS = (
    # DPDK's driver reports only wrong checksums.
    NicKind("e1000e", "e1000e", "e1000e", verifies=False, cuts=False),
    NicKind("vmxnet3", "vmxnet3", "vmxnet3"),
    NicKind(
        "virtio",
        "virtio-net-pci,iommu_platform=on,disable-legacy=on,mq=on,rss=on,vectors=6",
        "virtio_pci virtio_net",
        queues=2,
    ),
)

pytestmark = [needs_root, pytest.mark.long]


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.name)
def nics(request):
    """One guest for all cases of a kind of NIC."""
    with contextlib.ExitStack() as stack:
        with in_time("the guest"):
            lab = stack.enter_context(watch(NicLab(request.param)))
            lab.web = Web(lab, (ACCELERATED_PORT, BRIDGED_PORT))
            lab.file = lab.web.make_file("random.bin", SIZE)
        yield lab


def emulator_has_crashed(item) -> bool:
    """Whether the emulator, and not the code under test, has failed the test, which then runs once more
    (conftest.py)."""
    lab = item.funcargs.get("nics") if item.funcargs else None
    return lab is not None and lab.guest is not None and lab.guest.has_crashed()


def transfer(lab: NicLab, direction: str) -> None:
    before = lab.gateway_a.counter("flows_established")
    outcome = lab.web.start(lab.file, direction, ACCELERATED_PORT).finish()
    note(f"{direction}: {outcome}")
    check(outcome.completed and outcome.sha256_ok, f"{direction}: {outcome}")
    now = lab.gateway_a.counter("flows_established")
    check(now == before + 1, f"the {direction} was not accelerated")


def transfers(lab: NicLab) -> None:
    for direction in ("download", "upload"):
        transfer(lab, direction)


def test_files(nics: NicLab) -> None:
    transfers(nics)
    check_memory_returns(nics)


def test_checksums(nics: NicLab) -> None:
    """The gateway trusts checksums that the NIC has verified, and completes checksums that a host leaves to a NIC."""
    before = nics.ports["lan"]
    nics.client.run("ethtool", "-K", CLIENT.interface, "tx", "on")
    try:
        transfers(nics)
        # Bridged, so that the far host checks each checksum.
        outcome = nics.web.start(nics.file, "upload", BRIDGED_PORT).finish()
        check(outcome.completed and outcome.sha256_ok, f"bridged: {outcome}")
    finally:
        kernel.switch_off_offloads(nics.client, CLIENT.interface)
    after = nics.ports["lan"]
    seen = {
        name: after[name] - before[name]
        for name in ("rx_frames", "rx_checksums_verified", "rx_checksums_finished")
    }
    note(f"{seen}")
    done = seen["rx_checksums_verified"] + seen["rx_checksums_finished"]
    if nics.kind.verifies:
        check(done > seen["rx_frames"] // 2, f"the NIC has not looked at checksums: {seen}")
    else:
        check(done == 0, f"checksums are believed that nobody has called right: {seen}")


def test_segments(nics: NicLab) -> None:
    """Segments that leave for a host at once are one large frame, if the NIC cuts it."""
    before = nics.ports["lan"]["tx_large"]
    transfer(nics, "download")
    large = nics.ports["lan"]["tx_large"] - before
    note(f"{large} large frames")
    check((large > 0) == nics.kind.cuts, f"{large} large frames")
    check(nics.ports["lan"]["tx_errors"] == 0, "the driver has refused frames")


def test_queues(nics: NicLab) -> None:
    """Each worker has a queue, which gets the frames of its connections and of its lanes."""

    def workers() -> list[dict]:
        found = nics.gateway_a.query("status")["workers"]
        return [found[number] for number in sorted(found, key=int)]

    before = workers()
    check(len(before) == nics.kind.queues, f"{len(before)} workers")
    running = [nics.web.start(nics.file, "download", ACCELERATED_PORT) for _ in range(6)]
    for transfer_ in running:
        outcome = transfer_.finish()
        check(outcome.completed and outcome.sha256_ok, f"{outcome}")
    seen = [
        {key: now[key] - was[key] for key in ("frames", "given", "taken", "given_dropped")}
        for now, was in zip(workers(), before, strict=True)
    ]
    note(f"{seen}")
    for one in seen:
        check(one["frames"] > 0, "a queue has received nothing")
        check(one["given_dropped"] == 0, "frames were dropped between workers")
    given, frames = (sum(one[key] for one in seen) for key in ("given", "frames"))
    check(given < frames // 20, f"of {frames} frames {given} came to the wrong queue")


@pytest.mark.parametrize("vlans", ((100,), (200, 100)), ids=("tagged", "twice"))
def test_vlan(nics: NicLab, vlans: tuple[int, ...]) -> None:
    """Tags stay in the frame, and full-size frames with tags are not too long for the NIC."""
    with hosts_on(nics, vlans):
        transfers(nics)
        # Frames of 1500 octets behind the tags are bridged, and no MSS makes them smaller.
        nics.client.run(*f"ping -n -c 3 -i 0.2 -W 5 -s 1472 -M do {SERVER.ipv4}".split())


@contextlib.contextmanager
def hosts_on(lab: NicLab, vlans: tuple[int, ...]):
    lab.topology.put_hosts_on_vlans(vlans)
    try:
        yield
    finally:
        for space, host in hosts_of(lab):
            space.run("tc", "qdisc", "del", "dev", host.interface, "clsact")
            space.ip("link", "set", host.interface, "mtu", "1500")


def hosts_of(lab: NicLab):
    return (lab.client, CLIENT), (lab.server, SERVER)


@pytest.mark.parametrize("name", ("lan", "wan"))
def test_cable_out_and_in(nics: NicLab, name: str) -> None:
    """The gateway notices and reports it, and connections go on afterwards."""
    nic = nics.lan_nic if name == "lan" else nics.wan_nic
    told = nics.gateway_a.daemon.log(400)
    with connection(nics, 9001) as (client, server):
        echo(client, server, b"before")
        with unplugged(nics, nic):
            eventually(lambda: nics.ports[name]["link"] == "down", 5, "the port is seen to be down")
            client.sendall(b"meanwhile")
            if name == "wan":
                # None of these frames may leave when the cable is back.
                eventually(lambda: nics.ports["wan"]["tx_down"] > 0, 5, "what is sent is dropped")
        eventually(lambda: nics.ports[name]["link"] == "up", 10, "the port is seen to be up")
        check(server.recv(100) == b"meanwhile", "bytes changed")
        echo(client, server, b"after")
    for event in ("port_down", "port_up"):
        check(nics.gateway_a.daemon.log(400).count(event) > told.count(event), f"no {event} told")
    transfers(nics)


@contextlib.contextmanager
def unplugged(lab: NicLab, nic):
    lab.guest.set_link(nic, up=False)
    try:
        yield
    finally:
        lab.guest.set_link(nic, up=True)


def test_reload(nics: NicLab) -> None:
    near = nics.gateway_a
    with connection(nics, 9001) as (client, server):
        echo(client, server, b"before")
        taken_over = near.daemon.log(400).count("reload: done")
        rule = "rules:\n  - {match: {port: 9003}, action: bridge}"
        for number, yaml in enumerate((near.yaml.replace("rules:", rule, 1), near.yaml), 1):
            near.write_config(yaml)
            near.daemon.signal("HUP")
            eventually(
                lambda: near.daemon.log(400).count("reload: done") == taken_over + number,
                10,
                "SIGHUP reloads",
            )
            bridged = near.counter("bridged_by_rule")
            with connection(nics, 9003) as (other, far_end):
                echo(other, far_end, b"another")
            by_rule = near.counter("bridged_by_rule") > bridged
            check(by_rule == (number == 1), f"the rule of reload {number} does not hold")
        echo(client, server, b"still here")


def test_stop(nics: NicLab) -> None:
    """SIGTERM: status 0, hosts reset, and the ports are as good as before."""
    with connection(nics, 9001) as (client, server):
        echo(client, server, b"before")
        check(nics.gateway_a.daemon.stop() == 0, "SIGTERM ended in another status")
        eventually(lambda: was_reset(client), 5, "the stopping gateway resets its host")
        eventually(lambda: was_reset(server), 5, "the peer resets its host")
    nics.gateway_a.start()
    nics.wait_for_peers()
    transfers(nics)


def test_killed(nics: NicLab) -> None:
    """The devices were never stopped: their queues may still be written to when the next gateway starts."""
    with connection(nics, 9001) as (client, server):
        echo(client, server, b"before")
        nics.gateway_a.daemon.signal("KILL")
        check(nics.gateway_a.daemon.wait() == 137, "it was not killed")
        nics.gateway_a.start()
        nics.wait_for_peers()
        eventually(lambda: was_reset(client), 10, "the host is reset after the restart")
        eventually(lambda: was_reset(server), 10, "the far host is reset after the restart")
    transfers(nics)


def test_jumbo(nics: NicLab) -> None:
    """Frames of 9000 octets, relayed and bridged, in whatever pieces the NIC receives them."""
    nics.start_with_mtu(9000)
    before = nics.ports
    transfers(nics)
    after = nics.ports
    for port in ("lan", "wan"):
        for way in ("rx", "tx"):
            octets, frames = (
                after[port][f"{way}_{what}"] - before[port][f"{way}_{what}"]
                for what in ("bytes", "frames")
            )
            note(f"{port} {way}: {octets} octets in {frames} frames")
            # Half of the frames are acknowledgments.
            check(octets / frames > 2000, f"{port} {way}: frames of {octets / frames:.0f} octets")
    nics.client.run(*f"ping -n -c 3 -i 0.2 -W 5 -s 8972 -M do {SERVER.ipv4}".split())


def test_given_back(nics: NicLab) -> None:
    """bind-ports.sh gives the NIC back to the kernel's driver, which works with it. It refuses a NIC that is in use."""
    guest, address = nics.guest, nics.lan_nic.address
    status, text = guest.attempt(f"{BIND} restore {address}")
    check(status == 1 and "stop satrelayd first" in text, f"a port in use: {status}: {text}")
    check(nics.gateway_a.daemon.stop() == 0, "SIGTERM ended in another status")
    check("already" in nics.bind(), "bound twice")
    guest.run(f"{BIND} restore", 60)
    interface = guest.run(
        f"for net in /sys/bus/pci/devices/{address}/net/* /sys/bus/pci/devices/{address}/*/net/*; "
        "do if [ -e $net ]; then echo ${net##*/}; fi; done"
    ).strip()
    guest.run(f"ip address add {GUEST_ADDRESS}/24 dev {interface}; ip link set {interface} up")
    ping = nics.client.command(*f"ping -n -c 1 -W 1 {GUEST_ADDRESS}".split())
    eventually(lambda: subprocess.run(ping).returncode == 0, 20, "the kernel's driver works again")
    status, text = guest.attempt(f"{BIND} bind {interface}")
    check(status == 1 and f"it has the address {GUEST_ADDRESS}/24" in text, f"{status}: {text}")
    text = guest.run(f"{BIND} --dry-run --force --hugepages 64 bind {interface}")
    check(text.count("would: ") == 2, f"a dry run says: {text}")
    driver = guest.run(f"readlink /sys/bus/pci/devices/{address}/driver")
    check(not driver.endswith("vfio-pci"), f"a dry run has changed the driver to {driver}")
    check("nothing to put back" in guest.run(f"{BIND} restore"), "restored twice")


def test_without_hugepages(nics: NicLab) -> None:
    """Without hugepages a device cannot learn where the packets are. So the gateway does not start, instead of running
    mute."""
    daemon = nics.gateway_a.daemon
    daemon.stop()
    nics.guest.run(f"{BIND} restore", 60)
    addresses = f"{nics.lan_nic.address} {nics.wan_nic.address}"
    nics.guest.run(f"{BIND} --force --hugepages 0 bind {addresses}", 60)
    daemon.start()
    check(daemon.wait() == 1, "it runs without hugepages, or ended in another status")
    check("a PCI device needs hugepages" in daemon.log(), f"the reason is missing: {daemon.log()}")
