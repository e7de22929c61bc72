#!/bin/sh
# Runs clang-tidy over the compile database of BUILD_DIR, two files at a time, or over the given
# files only. What was clean stays so until it, a header it includes, its compile command or
# .clang-tidy changes: results are kept in BUILD_DIR.
#
# Usage: tests/tidy/clang_tidy.sh BUILD_DIR [FILE...]    (CLANG_TIDY and JOBS may be set)
set -eu
exec python3 "$(dirname "$0")/clang_tidy.py" "$@"
