"""Prometheus scrapes two gateways, Alertmanager reports a lost peer and its return, and every query of the dashboards
has an answer."""

import contextlib
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

from harness import (
    BRIDGED_PORT,
    REPOSITORY,
    GatewayOptions,
    Lab,
    RealTime,
    check,
    connection,
    control,
    converse,
    eventually,
    make_lab,
    note,
    receive_all,
)
from monitoring_lab import FILES, INSTANCES, Monitoring
from panel import panel_of

PEER = "remote"  # the name that the gateways of the lab have for each other
# Variables of the dashboards.
VARIABLES = {"$instance": INSTANCES[0], "$peer": PEER, "$__rate_interval": "1m"}
# Seconds from a kill -9 until Alertmanager has reported it, with intervals of one second.
MOST_UNTIL_TOLD = 15
# A metric that a gateway of the lab lacks, since no peer announces a capacity there.
NOT_MEASURED = {"satrelay_peer_announced_rate_bytes_per_second"}


@contextlib.contextmanager
def by_satpanel(lab: Lab, space):
    """Starts a panel for each gateway, where Prometheus is."""
    with contextlib.ExitStack() as stack:
        yield [
            f"127.0.0.1:{stack.enter_context(panel_of(gateway, users=False, space=space)).port}"
            for gateway in lab.gateways
        ]


def names_of(exposition: str) -> set[str]:
    return {re.split("[{ ]", line)[0] for line in exposition.splitlines() if line[:1] != "#"}


def documented_metrics() -> set[str]:
    with open(os.path.join(REPOSITORY, "docs", "monitoring.md"), encoding="utf-8") as file:
        text = file.read()
    cells = re.findall(r"^\| (`satrelay_.*?) \| ", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(satrelay_\w+)`", cell)}


def test_metrics_of_a_gateway(lab: Lab) -> None:
    converse(lab, 9001, times=20_000)
    near = lab.gateway_a
    done = control(lab, near, "metrics")
    check(done.returncode == 0 and done.stderr == "", f"{done.returncode}: {done.stderr}")
    if shutil.which("promtool"):
        lint = subprocess.run(
            ["promtool", "check", "metrics"], input=done.stdout, capture_output=True, text=True
        )
        check(lint.returncode == 0, f"promtool: {lint.stdout}{lint.stderr}")
        check(lint.stdout + lint.stderr == "", f"promtool: {lint.stdout}{lint.stderr}")
    there, listed = names_of(done.stdout), documented_metrics()
    check(there <= listed, f"not in docs/monitoring.md: {sorted(there - listed)}")
    missing = listed - there - NOT_MEASURED
    check(not missing, f"a gateway does not tell {sorted(missing)}")
    counters = near.counters()
    established = re.search(r"^satrelay_flows_established_total (\d+)$", done.stdout, re.MULTILINE)
    check(int(established[1]) == counters["flows_established"], "another count than the socket's")
    done = subprocess.run([lab.programs.satrelayctl, "metrics"], capture_output=True, text=True)
    check(done.returncode == 1 and done.stdout == "", f"of two gateways without a name: {done.stdout}")
    check("several gateways run here" in done.stderr, done.stderr)
    near.daemon.kill()
    done = control(lab, near, "metrics")
    check(done.returncode == 0, "a gateway that does not run is an error of who asks")
    check("\nsatrelay_up 0\n" in done.stdout, done.stdout)
    check("no gateway runs" in done.stderr, done.stderr)


def test_peer_lost_and_back() -> None:
    with tempfile.TemporaryDirectory(prefix="satrelay-records-") as folder:
        os.chmod(folder, 0o777)  # for any user that the gateways run as
        records = {"file": f"{folder}/{{gateway}}.json"}
        with make_lab(options=GatewayOptions(records=records)) as lab:
            watch_a_peer_go(lab)


def watch_a_peer_go(lab: Lab) -> None:
    far = lab.gateway_b
    with Monitoring(lab.folder, lab.tag, lambda space: by_satpanel(lab, space)) as monitoring:
        began = time.monotonic()
        targets = monitoring.targets
        try:
            eventually(
                lambda: [targets().get(name, {}).get("health") for name in INSTANCES] == ["up"] * 2,
                20,
                "both gateways are scraped",
            )
            make_traffic(lab)
            lose_and_return(lab, monitoring)
            make_traffic(lab)
            ask_dashboards(monitoring, began)
        except BaseException:
            note(f"{[(each['lastError'], each['scrapeUrl']) for each in targets().values()]}")
            note(monitoring.logs())
            raise
        check(far.daemon.running(), "the far gateway has ended")


def make_traffic(lab: Lab) -> None:
    converse(lab, 9001, times=20_000)
    converse(lab, BRIDGED_PORT)
    # Held for some scrapes, which so see a flow, and bytes that are compressed meanwhile.
    with connection(lab, 9002) as (client, server):
        for _ in range(5):
            client.sendall(b"again and again " * 4000)
            time.sleep(0.7)
        client.close()
        receive_all(server)


def lose_and_return(lab: Lab, monitoring: Monitoring) -> None:
    far, webhook = lab.gateway_b, monitoring.webhook
    check(webhook.told == [], f"alerts while all is well: {webhook.told}")
    near_says = {"instance": INSTANCES[0], "peer": PEER}
    killed, in_time = time.monotonic(), RealTime()
    far.daemon.kill()
    eventually(lambda: webhook.first("firing", "SatrelayPeerLost", **near_says), 60, "it is told")
    told = webhook.first("firing", "SatrelayPeerLost", **near_says)
    note(f"peer lost: told {told.at - killed:.1f} s after the kill -9")
    in_time.check(
        told.at - killed <= MOST_UNTIL_TOLD, f"told only {told.at - killed:.1f} s after the kill"
    )
    check(told.labels["severity"] == "critical", f"{told.labels}")
    check(PEER in told.annotations["summary"], f"{told.annotations}")
    check("far gateway" in told.annotations["action"], f"{told.annotations}")
    eventually(
        lambda: webhook.first("firing", "SatrelayGatewayDown", instance=INSTANCES[1]),
        30,
        "the one that was killed is told as down",
    )

    started = time.monotonic()
    far.start()
    lab.wait_for_peers()
    eventually(
        lambda: webhook.first("resolved", "SatrelayPeerLost", **near_says), 60, "its end is told"
    )
    ended = webhook.first("resolved", "SatrelayPeerLost", **near_says)
    note(f"peer lost: its end was told {ended.at - started:.1f} s after the restart began")
    eventually(
        lambda: webhook.first("resolved", "SatrelayGatewayDown", instance=INSTANCES[1]),
        60,
        "that it is up is told",
    )
    # This alert is for the record only; Alertmanager does not report it to operators.
    eventually(
        lambda: monitoring.query('ALERTS{alertname="SatrelayPeerRestarted", alertstate="firing"}'),
        20,
        "Prometheus has seen the restart",
    )
    names = {each.labels["alertname"] for each in webhook.told}
    check("SatrelayPeerRestarted" not in names, f"told to operators: {names}")


def ask_dashboards(monitoring: Monitoring, began: float) -> None:
    """Checks that each query had data at some time of this test, with alerts and all."""
    asked, silent, records = 0, [], []
    for path in sorted(glob.glob(os.path.join(FILES, "grafana-*.json"))):
        with open(path, encoding="utf-8") as file:
            board = json.load(file)
        queries = [
            (panel["title"], target["expr"])
            for panel in board["panels"]
            for target in panel.get("targets", [])
        ]
        queries += [("annotations", each["expr"]) for each in board["annotations"]["list"]]
        for title, expression in queries:
            for name, value in VARIABLES.items():
                expression = expression.replace(name, value)
            asked += 1
            series = monitoring.query_range(expression, time.monotonic() - began)
            if "satrelay_records_written_total" in expression:
                records += [max(float(value) for _, value in each["values"]) for each in series]
            if not series:
                silent.append(f"{os.path.basename(path)}: {title}: {expression}")
    note(f"{asked} queries of dashboards asked")
    check(asked > 80, f"only {asked} queries were found")
    check(not silent, "no data for\n" + "\n".join(silent))
    note(f"records written a second, at most: {records}")
    check(len(records) == 2 and min(records) > 0, f"records written a second: {records}")
