#!/bin/sh
# Runs clang-tidy over the product's files in the compile database of BUILD_DIR, two at a time; with
# --all over the tests too, which takes twice as long; or over the given files only. What was clean
# stays so until it, a header it includes, its compile command or .clang-tidy changes: results are
# kept in BUILD_DIR.
#
# In tests/run.sh it checks what has changed and a rotating eighth of the rest (clang_tidy.py).
#
# Usage: tests/tidy/clang_tidy.sh BUILD_DIR [--all | FILE...]    (CLANG_TIDY and JOBS may be set)
set -eu
exec python3 "$(dirname "$0")/clang_tidy.py" "$@"
