"""Traffic that works over a plain bridge works through two gateways: runs as_a_bridge in suite long."""

import os
import subprocess
import sys

import pytest
from harness import Failed, Skip, needs_root

PROGRAM = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "as_a_bridge")
MOST_SECONDS = 1500
WORSE, SOME_NOT_RUN = 1, 2  # its exit status

pytestmark = [needs_root, pytest.mark.long]


@pytest.mark.at_most(MOST_SECONDS)
def test_nothing_is_worse_than_over_a_bridge() -> None:
    with subprocess.Popen([sys.executable, PROGRAM], stdout=subprocess.PIPE, text=True) as table:
        try:
            told, _ = table.communicate()
        except BaseException:
            table.terminate()  # it takes its labs down
            raise
    print(told)
    summary = told.strip().splitlines()[-1] if told.strip() else f"exit status {table.returncode}"
    if table.returncode == SOME_NOT_RUN:
        raise Skip(summary)
    if table.returncode != 0:
        raise Failed(summary)
