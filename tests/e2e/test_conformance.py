#!/usr/bin/env python3
"""The packet scripts of tests/conformance, played on this machine's own TCP: the kernel as oracle."""

import os
import sys

from harness import build_folder

program = os.path.join(build_folder(), "tests", "conformance", "conformance")
sys.stdout.flush()
os.execv(program, [program, "--runner", "kernel"])
