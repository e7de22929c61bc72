"""Text as roff, with the macros of man(7)."""

import re

_SPECIAL = {"\\": r"\e", "^": r"\(ha", "~": r"\(ti", "`": r"\(ga", "-": r"\-", "'": r"\(aq", '"': r"\(dq"}


def escape(text: str) -> str:
    """Prose or code. Each hyphen is a minus, which can be copied from the page into a shell."""
    text = "".join(_SPECIAL.get(c, c if ord(c) < 128 else rf"\[u{ord(c):04X}]") for c in text)
    return rf"\&{text}" if text.startswith((".", " ")) else text


def prose(text: str) -> str:
    """Like escape(), with `code`, **strong** and links as Markdown has them."""
    text = re.sub(r"\[([^\]]*)\]\([^)\s]*\)", r"\1", text)
    parts = re.split(r"(`[^`]*`|\*\*[^*]+\*\*)", text)
    written = ""
    for part in parts:
        if len(part) > 2 and part[0] == part[-1] == "`":
            written += bold(part[1:-1])
        elif part.startswith("**") and part.endswith("**") and len(part) > 4:
            written += bold(part[2:-2])
        else:
            written += escape(part) if written == "" else escape(part).removeprefix(r"\&")
    return written


def bold(text: str) -> str:
    return rf"\fB{escape(text)}\fR"


def italic(text: str) -> str:
    return rf"\fI{escape(text)}\fR"


class Page:
    def __init__(self, name: str, section: int, version: str, date: str):
        self._lines = [
            r".\" Made by deploy/man/make_pages.py of what the programs say.",
            f'.TH {escape(name)} {section} "{date}" "satrelay {version}" "satrelay"',
        ]
        self._begun = False  # a paragraph macro is needed before the next text

    def heading(self, title: str) -> None:
        self._lines.append(f'.SH "{escape(title)}"')
        self._begun = False

    def subheading(self, title: str) -> None:
        self._lines.append(f'.SS "{escape(title)}"')
        self._begun = False

    def paragraph(self, *lines: str) -> None:
        """Lines that are roff already."""
        if self._begun:
            self._lines.append(".PP")
        self._lines += lines
        self._begun = True

    def item(self, heads: list[str], *lines: str) -> None:
        """An indented text below its heads, all roff already."""
        self._lines.append(".TP")
        self._lines.append(heads[0])
        for head in heads[1:]:
            self._lines += [".TQ", head]
        self._lines += lines
        self._begun = True

    def bullet(self, *lines: str) -> None:
        self._lines += [r".IP \(bu 2", *lines]
        self._begun = True

    def example(self, text: str) -> None:
        if self._begun:
            self._lines.append(".PP")
        self._lines.append(".EX")
        # A line that is empty ends no example.
        self._lines += [escape(line) or r"\&" for line in text.splitlines()]
        self._lines.append(".EE")
        self._begun = True

    def indent(self) -> None:
        self._lines.append(".RS")
        self._begun = False

    def outdent(self) -> None:
        self._lines.append(".RE")
        self._begun = True

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"
