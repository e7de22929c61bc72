"""gateway.yaml and link.yaml of the lab, as a person would write them."""

from dataclasses import dataclass, field

from . import topology
from .link import Link
from .topology import Host

ACCELERATED_PORT = 8080
BRIDGED_PORT = 8081


@dataclass(frozen=True)
class GatewayOptions:
    """Settings that a test may change. The defaults are satrelayd's own."""

    driver: str = "af_packet"
    lan: dict[str, str] = field(default_factory=dict)  # more keys of the port
    wan: dict[str, str] = field(default_factory=dict)  # more keys of this port, and of both ports of the link
    polling: str = "adaptive"
    workers: tuple[int, int] = (1, 1)  # of gateway A, and of gateway B
    limits: dict[str, str] = field(default_factory=dict)
    stp: dict[str, str] = field(default_factory=dict)
    modes: dict[str, str] = field(default_factory=dict)  # of the accelerating rule
    access: dict[str, str] = field(default_factory=dict)
    records: dict[str, str] = field(default_factory=dict)  # of flows; {gateway} stands for its name
    bridged_hosts: tuple[str, ...] = ()  # prefixes: connections to and from these are bridged
    log_level: str = "info"
    security: str = "none"  # or psk: with a secret that the lab makes
    capacity: str = "known"  # or find: the gateways do not know the link's rate
    terminal: bool = False  # gateway A's peer has all prefixes


def gateway_yaml(
    name: str,
    own: str,
    peer: str,
    behind_peer: Host | None,  # None: everything
    link: Link,
    options: GatewayOptions,
    psk_file: str,
    workers: tuple[int, int],
) -> str:
    rate = f"{link.rate}bit"
    told = f"send_rate: {rate}, receive_rate: {rate}"
    if options.capacity == "find":
        told = "capacity: find"
    prefixes = ""
    if behind_peer is not None:
        prefixes = f'prefixes: [{behind_peer.ipv4_side}, "{behind_peer.ipv6_side}"]'
    return f"""\
ports:
  lan: {_port(topology.LAN_INTERFACE, options.driver, options.lan)}
  wan: {_port(topology.WAN_INTERFACE, options.driver, options.wan)}
gateway: {{address: {own}}}
links:
  sat: {{{told}, overhead: ethernet}}
security: {f"{{psk_file: {psk_file}}}" if options.security == "psk" else "none"}
peers:
  - name: remote
    address: {peer.partition("/")[0]}
    link: sat
    {prefixes}
    workers: {workers[1]}
rules:
  - {{match: {{port: {BRIDGED_PORT}}}, action: bridge}}
{_bridging(options.bridged_hosts)}\
  - {{action: accelerate{"".join(f", {key}: {word}" for key, word in options.modes.items())}}}
worker: {{polling: {options.polling}, count: {workers[0]}}}
{_section("limits", options.limits)}{_section("stp", options.stp)}\
{_section("access", options.access)}\
{_section("records", options.records).replace("{gateway}", name)}\
stats_socket_prefix: {name}
log: {options.log_level}
"""


def link_yaml(name: str, link: Link, options: GatewayOptions, control_socket: str) -> str:
    one_way = f"{round(link.rtt / 2 * 1e6)}us"
    faults = "".join(f", {key}: {value}" for key, value in link.faults.items())
    direction = (
        f"rate: {link.rate}bit, delay: {one_way}, queue: {link.queue_bytes}B, "
        f"loss: {link.loss * 100:g}%{faults}"
    )
    first, second = topology.LINK_INTERFACES
    return f"""\
ports:
  a: {_port(first, options.driver, options.wan)}
  b: {_port(second, options.driver, options.wan)}
both: {{{direction}}}
overhead: ethernet
seed: {link.seed}
worker: {{polling: {options.polling}}}
control_socket: {control_socket}
stats_socket_prefix: {name}
"""


def _port(interface: str, driver: str, more: dict[str, str]) -> str:
    keys = {"interface": interface, "driver": driver, **more}
    return "{" + ", ".join(f"{key}: {value}" for key, value in keys.items()) + "}"


def _bridging(hosts: tuple[str, ...]) -> str:
    listed = ", ".join(f'"{prefix}"' for prefix in hosts)
    return "".join(
        f"  - {{match: {{{end}: [{listed}]}}, action: bridge}}\n"
        for end in ("source", "destination")
        if hosts
    )


def _section(name: str, values: dict[str, str]) -> str:
    if not values:
        return ""
    return f"{name}: {{{', '.join(f'{key}: {value}' for key, value in values.items())}}}\n"
