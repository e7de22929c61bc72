"""The same through AF_XDP ports: files arrive whole, and other traffic is bridged."""

import glob
import socket

from harness import (
    ACCELERATED_PORT,
    GatewayOptions,
    Skip,
    check,
    check_memory_returns,
    make_lab,
)
from lab.web import Web

SIZE = 2_000_000
_AF_XDP = 44


def require_af_xdp() -> None:
    if not glob.glob("/usr/lib/*/librte_net_af_xdp.so*"):
        raise Skip("DPDK's AF_XDP driver (librte_net_af_xdp) is not installed")
    try:
        socket.socket(_AF_XDP, socket.SOCK_RAW).close()
    except OSError as error:
        raise Skip(f"this kernel has no AF_XDP sockets ({error.strerror})") from None


def test_files_over_af_xdp() -> None:
    require_af_xdp()
    with make_lab(options=GatewayOptions(driver="af_xdp"), file_bytes=4 * SIZE) as lab:
        web = Web(lab, (ACCELERATED_PORT,))
        file = web.make_file("random.bin", SIZE)
        for direction in ("download", "upload"):
            outcome = web.start(file, direction, ACCELERATED_PORT).finish()
            check(outcome.completed and outcome.sha256_ok, f"{direction}: {outcome}")
        check(lab.gateway_a.counter("flows_established") == 2, "the flows were not accelerated")
        check_memory_returns(lab)
