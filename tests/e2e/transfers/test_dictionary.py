"""A class's dictionary with real hosts: small objects, fetched over HTTP. Here they are the descriptions of this
machine's packages. The dictionary is trained on one half of them, and the other half is measured."""

import contextlib
import ctypes
import hashlib
import json
import os
import tempfile

import pytest
from harness import GatewayOptions, Lab, Link, check, connection, control, eventually, note, tell

PORT = 9031
CONNECTIONS = 25
ROUNDS = 8


def objects() -> list[bytes]:
    with open("/var/lib/dpkg/status", encoding="utf-8") as file:
        return [text.encode() for text in file.read().strip().split("\n\n")]


def request(body: bytes) -> bytes:
    name = body.split(b"\n", 1)[0].removeprefix(b"Package: ")
    return (
        b"GET /packages/" + name + b" HTTP/1.1\r\nHost: packages.example.net\r\nUser-Agent: curl/7.88.1\r\n"
        b"Accept: text/plain\r\nAccept-Language: en\r\nConnection: keep-alive\r\n"
        b"If-None-Match: " + hashlib.md5(body).hexdigest().encode() + b"\r\n\r\n"
    )


def answer(body: bytes) -> bytes:
    return (
        b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nContent-Type: text/plain; charset=utf-8\r\n"
        b"Cache-Control: max-age=3600\r\nConnection: keep-alive\r\nETag: "
        + hashlib.sha1(body).hexdigest().encode()
        + b"\r\nContent-Length: %d\r\n\r\n" % len(body)
        + body
    )


def train(samples: list[bytes], size: int) -> bytes:
    """Trains a dictionary as `zstd --train` does."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZDICT_trainFromBuffer.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(size)
    sizes = (ctypes.c_size_t * len(samples))(*map(len, samples))
    made = zstd.ZDICT_trainFromBuffer(room, ctypes.c_size_t(size), b"".join(samples), sizes, len(samples))
    check(made <= size, f"the dictionary is not trained: {made}")
    return room.raw[:made]


class Configuration:
    """The gateways' configuration beyond the lab's own."""

    def __init__(self, lab: Lab):
        self.lab = lab
        self.yaml = {}
        for gateway in lab.gateways:
            with open(gateway.config_path, encoding="ascii") as file:
                self.yaml[gateway] = file.read()

    def write(self, gateway, dictionary: str) -> None:
        rule = f"\n  - {{name: objects, match: {{port: {PORT}-{PORT + CONNECTIONS}}}, action: accelerate, class: web}}"
        classes = f"classes:\n  web: {{{f'dictionary: {dictionary}' if dictionary else 'weight: 1'}}}\n"
        with open(gateway.config_path, "w", encoding="ascii") as file:
            file.write(self.yaml[gateway].replace("rules:", f"rules:{rule}", 1) + classes)

    def take(self, dictionary: str) -> None:
        for gateway in self.lab.gateways:
            self.write(gateway, dictionary)
            tell(self.lab, gateway, "reload")


def codec(lab: Lab, gateway) -> dict:
    rules = json.loads(control(lab, gateway, "rules", "--json").stdout)
    return next(rule["codec"] for rule in rules if rule["name"] == "objects")


def agreed(lab: Lab) -> int:
    """Classes with a dictionary that both gateways have; 2: the gateways disagree about it."""
    counts = {gateway.query("peers")[0]["dictionaries"] for gateway in lab.gateways}
    return counts.pop() if len(counts) == 1 else 2


def exchange(connections: list, bodies: list[bytes]) -> None:
    for at in range(0, len(bodies), len(connections)):
        part = bodies[at : at + len(connections)]
        for (client, _), body in zip(connections, part):
            client.sendall(request(body))
        for (_, server), body in zip(connections, part):
            check(receive(server, len(request(body))) == request(body), "a request has changed")
            server.sendall(answer(body))
        for (client, _), body in zip(connections, part):
            check(receive(client, len(answer(body))) == answer(body), "an answer has changed")


def receive(source, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = source.recv(size - len(data))
        check(part, "the connection ended")
        data += part
    return data


def measure(lab: Lab, bodies: list[bytes]) -> list[dict]:
    """The codec's counters for the requests and for the answers, each at the gateway that sends them."""
    before = [codec(lab, gateway) for gateway in lab.gateways]
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(connection(lab, PORT + i)) for i in range(CONNECTIONS)]
        exchange(connections, bodies)
    after = [codec(lab, gateway) for gateway in lab.gateways]
    return [{key: new[key] - old[key] for key in new} for old, new in zip(before, after)]


def small_objects(lab: Lab, configuration: Configuration, folder: str) -> None:
    all_objects = objects()
    learnt, asked = all_objects[::2], all_objects[1::2][: CONNECTIONS * ROUNDS]
    files = {}
    for name, samples in (("first", [m for b in learnt for m in (request(b), answer(b))]), ("second", learnt)):
        files[name] = os.path.join(folder, name)
        with open(files[name], "wb") as file:
            file.write(train(samples, 64 * 1024))

    configuration.take("")
    without = measure(lab, asked)
    check(all(each["dictionary_blocks"] == 0 for each in without), "there was no dictionary")
    configuration.take(files["first"])
    eventually(lambda: agreed(lab) == 1, 5, "both know of the dictionary")
    with_it = measure(lab, asked)
    for what, old, new in zip(("requests", "answers"), without, with_it):
        check(new["plain_bytes"] == old["plain_bytes"], "not the same was asked")
        check(new["dictionary_blocks"] >= 0.9 * new["compressed_blocks"] > 0, f"{what}: {new}")
        note(
            f"{what} of {new['plain_bytes'] / len(asked):.0f} bytes became {old['encoded_bytes'] / len(asked):.0f} "
            f"without and {new['encoded_bytes'] / len(asked):.0f} with a dictionary, "
            f"{old['encoded_bytes'] / new['encoded_bytes']:.1f} times less; "
            f"compressing took {old['time_ns'] / len(asked) / 1e3:.0f} and "
            f"{new['time_ns'] / len(asked) / 1e3:.0f} microseconds each"
        )
        check(2 * new["encoded_bytes"] < old["encoded_bytes"], f"{what} do not shrink by half")

    with open(files["first"], "rb") as file:
        fingerprint = hashlib.sha256(file.read()).hexdigest()[:16]
    check(fingerprint in control(lab, lab.gateway_a, "classes").stdout, "the class does not show its dictionary")
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(connection(lab, PORT + i)) for i in range(5)]
        exchange(connections, asked[:10])
        flow = next(f for f in lab.gateway_a.query("flows") if f["server_port"] == PORT)
        shown = control(lab, lab.gateway_a, "flow", str(flow["id"])).stdout
        check(f"auto, dictionary {fingerprint}" in shown, shown)
        # The dictionary is exchanged at one side, at the other, and back, amid these connections.
        for gateway, name in zip(lab.gateways * 2, ("second", "second", "first", "first")):
            configuration.write(gateway, files[name])
            tell(lab, gateway, "reload")
            exchange(connections, asked[:20])
        eventually(lambda: agreed(lab) == 1, 5, "both know of the dictionary again")
        before = codec(lab, lab.gateway_b)["dictionary_blocks"]
        exchange(connections, asked[:20])
        check(codec(lab, lab.gateway_b)["dictionary_blocks"] > before, "it is not used again")


def refusals(lab: Lab, configuration: Configuration, folder: str) -> None:
    near = lab.gateway_a
    plain = os.path.join(folder, "plain")
    with open(plain, "w", encoding="ascii") as file:
        file.write("no dictionary")
    for path, says in ((plain, "is not a dictionary of zstd; make one of samples"), (f"{folder}/none", "No such file")):
        configuration.write(near, path)
        refused = control(lab, near, "reload")
        check(refused.returncode == 1 and "classes.web.dictionary" in refused.stderr, refused.stderr)
        check(says in refused.stderr, refused.stderr)
    check(near.query("peers")[0]["dictionaries"] == 1, "a refused reload has changed something")


@pytest.mark.lab(Link(rate=10_000_000, rtt=0.2, loss=0.01), GatewayOptions())
def test_dictionary(lab: Lab) -> None:
    with tempfile.TemporaryDirectory(prefix="satrelay-dictionary-") as folder:
        os.chmod(folder, 0o711)  # the gateways no longer run as root when they reload
        configuration = Configuration(lab)
        small_objects(lab, configuration, folder)
        refusals(lab, configuration, folder)
