"""A program that a test starts heeds the signals of a terminal."""

import signal


def heed() -> None:
    """As from a terminal: a background job of a shell ignores SIGINT, and one of nohup SIGHUP. For preexec_fn."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
