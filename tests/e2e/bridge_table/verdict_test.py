#!/usr/bin/env python3
"""The verdicts of as_a_bridge, worse, equal and better, and its exit status. The test needs no network."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from bridge_table.conditions import BETTER, EQUAL, NOT_RUN, WORSE, Condition, Row, Seen  # noqa: E402
from bridge_table.outcome import exit_status, summary  # noqa: E402


def row(bridge: list[Seen], gateways: list[Seen], not_run: str = "") -> Row:
    return Row(Condition("a condition", lambda site: Seen("")), bridge, gateways, not_run)


def of_times(bridge: list[float], gateways: list[float]) -> Row:
    return row(*([Seen("done", True, each) for each in times] for times in (bridge, gateways)))


class Verdict(unittest.TestCase):
    def test_the_same_in_about_the_same_time_is_equal(self):
        self.assertEqual(of_times([1.0], [1.2]).verdict, EQUAL)
        self.assertEqual(of_times([0.1], [0.3]).verdict, EQUAL)
        self.assertEqual(row([Seen("done")], [Seen("done")]).verdict, EQUAL)

    def test_a_further_round_trip_is_worse(self):
        self.assertEqual(of_times([0.6], [1.2]).verdict, WORSE)
        self.assertTrue(of_times([0.6], [1.2]).is_slower)

    def test_faster_is_better(self):
        self.assertEqual(of_times([1.2], [0.6]).verdict, BETTER)

    def test_medians_are_compared(self):
        self.assertEqual(of_times([1.0, 1.0, 1.0], [9.0, 1.0, 1.1]).verdict, EQUAL)
        self.assertEqual(of_times([1.0, 1.0, 1.0], [9.0, 1.0, 1.9]).verdict, WORSE)

    def test_failing_through_gateways_only_is_worse(self):
        failed = row([Seen("done")], [Seen("reset", False)])
        self.assertEqual(failed.verdict, WORSE)
        self.assertFalse(failed.is_slower)

    def test_one_failure_of_several_is_not_forgotten(self):
        runs = [Seen("done"), Seen("reset", False), Seen("done")]
        self.assertEqual(row([Seen("done")] * 3, runs).verdict, WORSE)

    def test_another_answer_is_worse(self):
        self.assertEqual(row([Seen("exit 7")], [Seen("exit 28")]).verdict, WORSE)

    def test_failing_over_a_bridge_only_is_better(self):
        self.assertEqual(row([Seen("nothing", False)], [Seen("done")]).verdict, BETTER)

    def test_failing_over_both_proves_nothing(self):
        self.assertEqual(row([Seen("nothing", False)], [Seen("nothing", False)]).verdict, NOT_RUN)


class ExitStatus(unittest.TestCase):
    EQUAL = of_times([1.0], [1.0])
    WORSE = of_times([1.0], [2.0])
    NOT_RUN = row([], [], "not installed: sipp")

    def test_worse_before_not_run_before_well(self):
        self.assertEqual(exit_status([self.EQUAL]), 0)
        self.assertEqual(exit_status([self.EQUAL, self.NOT_RUN]), 2)
        self.assertEqual(exit_status([self.NOT_RUN, self.WORSE]), 1)

    def test_what_was_not_run_is_not_counted(self):
        told = summary([self.EQUAL, self.NOT_RUN, self.WORSE])
        self.assertEqual(told, "2 conditions: 1 equal, 0 better, 1 worse, 1 not run")


if __name__ == "__main__":
    unittest.main()
