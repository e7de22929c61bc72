#!/usr/bin/env python3
"""Writes a C++ source with the content of files: embed.py OUTPUT FILE..."""

import pathlib
import sys

PART = 8192  # bytes of a literal: compilers limit its length, and join adjacent literals


def literal(data):
    """The bytes as string literals, with what is no plain character as octal digits."""
    text = "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"
                   for byte in data)
    return f'"{text}"'


def main():
    output, files = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    lines = ['#include "relay/satpanel/embedded_assets.h"', "", "#include <array>", "",
             "namespace satrelay::panel {", "namespace {", ""]
    for number, path in enumerate(files):
        data = path.read_bytes()
        parts = [literal(data[i:i + PART]) for i in range(0, len(data), PART)] or ['""']
        lines.append(f"constexpr char kFile{number}[] =")
        lines += [f"    {part}" for part in parts[:-1]] + [f"    {parts[-1]};", ""]
    lines.append(f"constexpr std::array<EmbeddedAsset, {len(files)}> kAssets{{{{")
    for number, path in enumerate(files):
        size = path.stat().st_size
        lines.append(f'    {{"{path.name}", {{kFile{number}, {size}}}}},')
    lines += ["}};", "", "}  // namespace", "",
              "std::span<const EmbeddedAsset> embedded_assets() { return kAssets; }", "",
              "}  // namespace satrelay::panel", ""]
    output.write_text("\n".join(lines), encoding="ascii")


if __name__ == "__main__":
    main()
