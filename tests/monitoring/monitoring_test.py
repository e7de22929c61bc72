"""Checks deploy/monitoring against the metrics that exist: rules, dashboards, and docs/monitoring.md.

Usage: monitoring_test.py SAMPLE_EXPOSITION. If Prometheus' own tools (promtool, amtool) are installed, they check what
they can. The names are checked in any case.
"""

import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from prometheus_client.openmetrics.parser import text_string_to_metric_families

sys.dont_write_bytecode = True
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
MONITORING = REPOSITORY / "deploy" / "monitoring"
ALERTS = MONITORING / "satrelay-alerts.yaml"
RECORDING = MONITORING / "satrelay-recording.yaml"
DASHBOARDS = sorted(MONITORING.glob("grafana-*.json"))
TESTS = REPOSITORY / "tests" / "monitoring" / "alerts_test.yaml"
DOCUMENT = REPOSITORY / "docs" / "monitoring.md"

RECORD = re.compile(r"^ +- record: (\S+)$", re.MULTILINE)
SERIES = re.compile(r"(?<![\w:])((?:instance\w*:)?satrelay_[\w:]+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|!=|!~|=)"([^"]*)"')
# Labels that Prometheus gives to each target.
OF_TARGETS = {"job", "instance"}

sample_exposition = ""  # the program


def exposition(form: str) -> str:
    return subprocess.run([sample_exposition, form], check=True, capture_output=True, text=True).stdout


def values_of_labels(text: str) -> dict[str, dict[str, set[str]]]:
    """{metric: {label: its values}}"""
    found: dict = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, _, labels = line.partition("{")
        labels_of = found.setdefault(name.split(" ")[0], collections.defaultdict(set))
        for label, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels):
            labels_of[label].add(value)
    return found


def expressions_of(rules: pathlib.Path) -> list[str]:
    """The text behind each `expr:`, on one line or below it."""
    return re.findall(r"^ +expr: (?:\|\n((?:          .*\n)+)|(.*)\n)", rules.read_text(), re.MULTILINE)


def queries_of(dashboard: pathlib.Path) -> list[str]:
    board = json.loads(dashboard.read_text())
    queries = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    queries += [each["expr"] for each in board["annotations"]["list"]]
    return queries


def all_queries() -> list[tuple[str, str]]:
    found = [(path.name, below or beside) for path in (ALERTS, RECORDING)
             for below, beside in expressions_of(path)]
    return found + [(path.name, query) for path in DASHBOARDS for query in queries_of(path)]


def alerts() -> dict[str, str]:
    """{name: the rest of the rule}"""
    parts = re.split(r"^ +- alert: (\w+)\n", ALERTS.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def documented(heading: str) -> list[str]:
    """The words in backticks in the first cells of the tables below `heading`."""
    text = DOCUMENT.read_text()
    section = text[text.index(f"\n## {heading}\n") + 4:]
    section = section[: section.find("\n## ")] + "\n"
    cells = re.findall(r"^\| (`.*?) \| ", section, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def run(*argv: str, **more) -> subprocess.CompletedProcess:
    return subprocess.run(argv, capture_output=True, text=True, **more)


class ByToolsOfPrometheus(unittest.TestCase):
    def succeeds(self, *argv, **more):
        if not shutil.which(argv[0]):
            self.skipTest(f"{argv[0]} is not installed (deploy/setup.sh --test-programs)")
        done = run(*(str(each) for each in argv), **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_metrics(self):
        said = self.succeeds("promtool", "check", "metrics", input=exposition("text"))
        self.assertEqual(said, "")  # promtool has no advice either

    def test_rules(self):
        self.succeeds("promtool", "check", "rules", "--lint-fatal", ALERTS, RECORDING)

    def test_when_alerts_fire(self):
        self.succeeds("promtool", "test", "rules", TESTS)

    def test_configurations(self):
        self.succeeds("promtool", "check", "config", MONITORING / "prometheus.yaml")
        self.succeeds("amtool", "check-config", MONITORING / "alertmanager.yaml")


class Names(unittest.TestCase):
    def setUp(self):
        self.metrics = values_of_labels(exposition("text"))
        self.recorded = set(RECORD.findall(RECORDING.read_text()))

    def test_queries_ask_for_what_there_is(self):
        for place, query in all_queries():
            for name, matchers in SERIES.findall(query):
                with self.subTest(place=place, query=query, name=name):
                    if ":" in name:
                        self.assertIn(name, self.recorded)
                        continue
                    self.assertIn(name, self.metrics)
                    self.labels_are_there(name, matchers)

    def labels_are_there(self, name, matchers):
        for label, relation, value in MATCHER.findall(matchers):
            if label in OF_TARGETS:
                continue
            self.assertIn(label, self.metrics[name])
            # Names of peers and the like are not known here, but words are.
            if label in ("state", "reason", "listing"):
                words = value.split("|") if "~" in relation else [value]
                self.assertLessEqual(set(words), self.metrics[name][label])

    def test_dashboards_show_what_becomes_of_records(self):
        for path in DASHBOARDS:
            shown = " ".join(queries_of(path))
            for name in ("records_written_total", "records_exported_total", "records_unwritten_total",
                         "records_unexported_total", "worker_records_lost_total", "records_file_state",
                         "records_ipfix_state"):
                with self.subTest(dashboard=path.name, name=name):
                    self.assertIn(f"satrelay_{name}", shown)

    def test_all_queries_were_found(self):
        self.assertEqual(len(expressions_of(ALERTS)), len(alerts()))
        self.assertEqual(len(expressions_of(RECORDING)), len(self.recorded))

    def test_every_rule_has_been_tried(self):
        text = TESTS.read_text()
        for name in [*alerts(), *self.recorded]:
            with self.subTest(name=name):
                self.assertIn(name, text)

    def test_every_alert_says_what_to_do(self):
        for name, rule in alerts().items():
            with self.subTest(name=name):
                self.assertRegex(rule, r"labels: \{severity: (critical|warning|info)\}")
                for annotation in ("summary", "action"):
                    self.assertRegex(rule, rf"\n          {annotation}: \S")
                self.assertIn("$labels.instance", rule)

    def test_panels_do_not_overlap(self):
        for path in DASHBOARDS:
            taken = set()
            panels = json.loads(path.read_text())["panels"]
            self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
            for panel in panels:
                at = panel["gridPos"]
                cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                         for y in range(at["y"], at["y"] + at["h"])}
                with self.subTest(dashboard=path.name, panel=panel["title"]):
                    self.assertFalse(cells & taken)
                    self.assertLessEqual(at["x"] + at["w"], 24)
                taken |= cells


class Document(unittest.TestCase):
    def test_lists_every_metric_and_no_other(self):
        there = set(values_of_labels(exposition("text")))
        listed = documented("Metrics")
        self.assertEqual(sorted(listed), sorted(set(listed)), "listed twice")
        self.assertEqual(sorted(there - set(listed)), [], "not listed")
        self.assertEqual(sorted(set(listed) - there), [], "listed, and not there")

    def test_lists_every_alert_with_its_severity(self):
        listed = documented("Alerts")
        self.assertEqual(sorted(listed), sorted(alerts()))
        rows = DOCUMENT.read_text()
        for name, rule in alerts().items():
            severity = re.search(r"severity: (\w+)", rule).group(1)
            with self.subTest(name=name):
                self.assertIn(f"| `{name}` | {severity} | ", rows)


class OpenMetrics(unittest.TestCase):
    def test_has_the_same_samples(self):
        """Only the lines about families and the end differ."""
        of_text = [line for line in exposition("text").splitlines() if not line.startswith("#")]
        text = exposition("openmetrics")
        self.assertTrue(text.endswith("\n# EOF\n"))
        self.assertEqual([line for line in text.splitlines() if not line.startswith("#")], of_text)

    def test_passes_the_strict_parser(self):
        """Prometheus' own reader of OpenMetrics in Python refuses faults that scrapers may only warn about."""
        text = exposition("openmetrics")
        families = list(text_string_to_metric_families(text))
        self.assertEqual(sum(len(each.samples) for each in families),
                         sum(not line.startswith("#") for line in text.splitlines()))

    def test_families_end_with_their_unit(self):
        kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", exposition("openmetrics"), re.MULTILINE))
        self.assertEqual(set(kinds.values()), {"gauge", "counter", "info", "histogram"})
        for family, unit in re.findall(r"^# UNIT (\S+) (\S+)$", exposition("openmetrics"), re.MULTILINE):
            self.assertTrue(family.endswith("_" + unit), family)
            self.assertIn(family, kinds)


if __name__ == "__main__":
    sample_exposition = sys.argv.pop(1)
    unittest.main(verbosity=1)
