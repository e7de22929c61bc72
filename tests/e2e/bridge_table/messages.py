"""redis, mosquitto and SIPp: pipelines, subscriptions, waits, and calls."""

import os
import signal
import time

from harness import CLIENT, SERVER
from program_servers import listens

from .conditions import Seen, condition
from .programs import end, finish, run, running, start, wait_until
from .sites import Site

_REDIS = ("redis-cli", "-h", SERVER.ipv4)
_REDIS_NEEDS = ("redis-cli", "redis-server")


# --- redis -------------------------------------------------------------------------------------------


@condition("redis: one question at a time", *_REDIS_NEEDS)
def _(site):
    done = run(site.client, *_REDIS, "-r", "8", "PING")
    answers = done.out.split()
    return Seen(f"exit {done.status}, {len(answers)} answers", answers == ["PONG"] * 8, done.seconds)


@condition("redis: a pipeline of 20,000 commands", *_REDIS_NEEDS, fills=True)
def _(site):
    commands = b"".join(b"SET key:%d %d\r\n" % (n, n * n) for n in range(20_000))
    done = run(site.client, *_REDIS, "--pipe", given=commands)
    return Seen(f"exit {done.status}, {done.last_words}", "replies: 20000" in done.out, done.seconds)


@condition("redis: publish and subscribe", *_REDIS_NEEDS)
def _(site):
    began = time.monotonic()
    subscriber = start(site.client, "timeout", "12", *_REDIS, "SUBSCRIBE", "news")
    time.sleep(3)
    run(site.server, "redis-cli", "PUBLISH", "news", "something happened")
    done = finish(subscriber, began)
    heard = "something happened" in done.out
    return Seen("the message" if heard else done.last_words, heard)


@condition("redis: a blocking pop that waits for 30 s", *_REDIS_NEEDS)
def _(site):
    began = time.monotonic()
    waiting = start(site.client, *_REDIS, "BLPOP", "jobs", "50")
    time.sleep(30)
    run(site.server, "redis-cli", "RPUSH", "jobs", "a job")
    done = finish(waiting, began)
    return Seen(f"exit {done.status}, {done.out.split()}", done.out.split() == ["jobs", "a", "job"], done.seconds)


@condition("redis: a blocking pop that ends by itself", *_REDIS_NEEDS)
def _(site):
    done = run(site.client, *_REDIS, "BLPOP", "nothing", "8")
    return Seen(f"exit {done.status}, {done.out.strip()!r}", done.status == 0 and not done.err, done.seconds)


@condition("redis: the server is killed under a blocking pop", *_REDIS_NEEDS)
def _(site):
    port = str(site.port())
    with running(site.server, "redis-server", "--port", port, "--protected-mode", "no", "--save", "") as server:
        wait_until(lambda: listens(site.server, int(port)), 20, "redis listens")
        began = time.monotonic()
        waiting = start(site.client, *_REDIS, "-p", port, "BLPOP", "jobs", "60")
        time.sleep(4)
        end(server)
        since = time.monotonic()
        done = finish(waiting, began)
    return Seen(f"exit {done.status}: {done.last_words}", "closed" in done.err + done.out, time.monotonic() - since)


# --- MQTT --------------------------------------------------------------------------------------------

_MQTT_NEEDS = ("mosquitto", "mosquitto_pub", "mosquitto_sub")


def _mqtt(site: Site, quality: str, wait: float, address: str = SERVER.ipv4) -> Seen:
    topic = f"topic{quality}/{wait}/{address}"
    began = time.monotonic()
    words = ("mosquitto_sub", "-h", address, "-q", quality, "-k", "5", "-t", topic, "-C", "3", "-W", "70")
    subscriber = start(site.client, *words)
    time.sleep(3 + wait)
    for n in range(3):
        sent = run(site.client, "mosquitto_pub", "-h", address, "-q", quality, "-t", topic, "-m", f"message {n}")
    done = finish(subscriber, began)
    heard = done.out.splitlines()
    what = f"publisher's exit {sent.status}, subscriber's {done.status}, {len(heard)} of 3 messages"
    return Seen(what, heard == [f"message {n}" for n in range(3)], done.seconds)


@condition("mosquitto: QoS 1", *_MQTT_NEEDS)
def _(site):
    return _mqtt(site, "1", 0)


@condition("mosquitto: QoS 2, IPv6", *_MQTT_NEEDS)
def _(site):
    return _mqtt(site, "2", 0, SERVER.ipv6)


@condition("mosquitto: QoS 1 after 30 s with nothing but keep-alives each 5 s", *_MQTT_NEEDS)
def _(site):
    return _mqtt(site, "1", 30)


@condition("mosquitto: a client that is killed leaves its will", *_MQTT_NEEDS)
def _(site):
    began = time.monotonic()
    watcher = start(site.server, "mosquitto_sub", "-h", "127.0.0.1", "-t", "will", "-C", "1", "-W", "60")
    client = start(
        *(site.client, "mosquitto_sub", "-h", SERVER.ipv4, "-k", "10", "-t", "none"),
        *("--will-topic", "will", "--will-payload", "gone"),
    )
    time.sleep(4)
    end(client, signal.SIGKILL)
    since = time.monotonic()
    finish(client, began)
    done = finish(watcher, began)
    return Seen(done.out.strip() or done.last_words, done.out == "gone\n", time.monotonic() - since)


@condition("mosquitto: the client vanishes, its will is told by the keep-alive of 5 s", *_MQTT_NEEDS)
def _(site):
    """The client's process is stopped. Its TCP goes on, its MQTT does not."""
    began = time.monotonic()
    watcher = start(site.server, "mosquitto_sub", "-h", "127.0.0.1", "-t", "late", "-C", "1", "-W", "60")
    client = start(
        *(site.client, "mosquitto_sub", "-h", SERVER.ipv4, "-k", "5", "-t", "none"),
        *("--will-topic", "late", "--will-payload", "gone"),
    )
    time.sleep(4)
    end(client, signal.SIGSTOP)
    since = time.monotonic()
    done = finish(watcher, began)
    # The broker waits for one and a half keep-alives, and checks every few seconds.
    soon = time.monotonic() - since < 15
    end(client)
    finish(client, began)
    return Seen(f"{done.out.strip()!r}, within 15 s: {soon}", soon and done.out == "gone\n")


# --- SIP ---------------------------------------------------------------------------------------------


def _calls(site: Site, transport: str, near: str, far: str) -> Seen:
    """Makes five calls of two seconds each."""
    folder, port = site.folder(), str(site.port())
    # No repetitions over UDP: SIP's first one is due after 500 ms, before any answer can have arrived.
    common = ("-nr", "-max_socket", "1000", "-nostdin", "-trace_err", "-error_file", os.path.join(folder, "errors"))
    with running(site.server, "sipp", "-sn", "uas", "-i", far, "-p", port, "-t", transport, *common):
        time.sleep(1)
        done = run(
            *(site.client, "sipp", "-sn", "uac", "-i", near, "-p", port, "-t", transport, *common),
            *("-m", "5", "-r", "2", "-d", "2000", f"{far if ':' not in far else f'[{far}]'}:{port}"),
        )
    made = [line.split()[-1] for line in done.out.splitlines() if "Successful call" in line]
    what = f"exit {done.status}, {made[-1] if made else '?'} of 5 calls"
    return Seen(what, done.status == 0 and made[-1:] == ["5"], done.seconds)


@condition("SIPp: five calls over UDP", "sipp")
def _(site):
    return _calls(site, "u1", CLIENT.ipv4, SERVER.ipv4)


@condition("SIPp: five calls over TCP", "sipp")
def _(site):
    return _calls(site, "t1", CLIENT.ipv4, SERVER.ipv4)


@condition("SIPp: five calls over TCP, a connection each", "sipp")
def _(site):
    return _calls(site, "tn", CLIENT.ipv4, SERVER.ipv4)


@condition("SIPp: five calls over UDP, IPv6", "sipp")
def _(site):
    return _calls(site, "u1", CLIENT.ipv6, SERVER.ipv6)
