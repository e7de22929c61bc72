"""Values with units, as a person types and reads them: 50Mbit, 550ms, 20MB."""

import re

_RATES = {"bit": 1, "kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9}
_DURATIONS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_SIZES = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}


def _parse(text: str, units: dict, what: str, example: str) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)", text.strip())
    if match is None or match[2] not in units:
        raise ValueError(
            f"'{text}' is not a {what}: a number and one of {', '.join(units)}, such as {example}"
        )
    return float(match[1]) * units[match[2]]


def parse_rate(text: str) -> int:
    """Bits per second."""
    return round(_parse(text, _RATES, "rate", "50Mbit"))


def parse_duration(text: str) -> float:
    """Seconds."""
    return _parse(text, _DURATIONS, "duration", "550ms")


def parse_size(text: str) -> int:
    """Bytes."""
    return round(_parse(text, _SIZES, "size", "20MB"))


def parse_percentage(text: str) -> float:
    """Percent, 0 to 100; the sign may be left out."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)%?", text.strip())
    if match is None or float(match[1]) > 100:
        raise ValueError(f"'{text}' is not a percentage from 0 to 100, such as 1")
    return float(match[1])


def show_rate(bits_per_second: float) -> str:
    for unit, scale in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)):
        if bits_per_second >= scale:
            return f"{bits_per_second / scale:.3g} {unit}"
    return f"{bits_per_second:.0f} bit/s"


def show_size(count: float) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count:.0f} B"


def show_duration(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms" if seconds < 1 else f"{seconds:.4g} s"
