"""Temporary folders of tests that run programs in them."""

import os
import tempfile


def folder_of_programs(prefix: str) -> tempfile.TemporaryDirectory:
    """Is in the current folder, such as the build folder, if the usual place is mounted noexec."""
    usual = tempfile.gettempdir()
    may_run = not os.statvfs(usual).f_flag & os.ST_NOEXEC
    return tempfile.TemporaryDirectory(prefix=prefix, dir=usual if may_run else os.getcwd())
