#!/bin/sh
# Runs clang-tidy over files in the compile database of BUILD_DIR, two at a time. By default these are the product's
# files. With --all they include the tests, which takes twice as long; or only the given files are checked. A clean file
# stays clean until it, a header that it includes, its compile command or .clang-tidy changes. The results are kept in
# BUILD_DIR.
#
# tests/run.sh lets it check changed files and a rotating eighth of the rest (clang_tidy.py).
#
# Usage: tests/tidy/clang_tidy.sh BUILD_DIR [--all | FILE...]    (CLANG_TIDY and JOBS may be set)
set -eu
exec python3 "$(dirname "$0")/clang_tidy.py" "$@"
