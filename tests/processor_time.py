"""Runs a program for `meson test --wrapper`, and then prints the processor time that it has taken.

It ends as the program does. tests/summary.py --slowest reads the line.
"""

import os
import resource
import signal
import sys

WORDS = "processor time: "


def main() -> int:
    child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
    _, status = os.waitpid(child, 0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{WORDS}{used.ru_utime + used.ru_stime:.2f} s", file=sys.stderr, flush=True)
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the program has left its own
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
