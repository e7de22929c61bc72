#!/usr/bin/env python3
"""The packet scripts of tests/conformance, played on this machine's own TCP: the kernel as oracle."""

import os
import subprocess
import sys

from harness import RealTime, build_folder, main

SKIPPED = 77


def the_kernel_plays_them() -> None:
    program = os.path.join(build_folder(), "tests", "conformance", "conformance")
    measured = RealTime()
    status = subprocess.run([program, "--runner", "kernel"]).returncode
    if status == SKIPPED:
        sys.exit(status)  # its last line says why
    measured.must(status == 0, f"the kernel's runner ended with status {status}")


if __name__ == "__main__":
    main(the_kernel_plays_them)
