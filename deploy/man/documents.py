"""Parts of the documents (docs/*.md), so that a page and a document cannot say different things."""

import pathlib
import re

from roff import Page, bold, escape, prose

ROOT = pathlib.Path(__file__).resolve().parents[2]


def section(document: str, title: str) -> list[str]:
    """The lines below a heading, up to the next heading of any level."""
    lines = (ROOT / document).read_text(encoding="utf-8").splitlines()
    begins = [i for i, line in enumerate(lines) if re.fullmatch(rf"#+ {re.escape(title)}", line)]
    if len(begins) != 1:
        raise LookupError(f"{document} has {len(begins)} headings {title!r}")
    found = []
    for line in lines[begins[0] + 1:]:
        if re.match(r"#+ ", line):
            break
        found.append(line)
    return found


def for_operators() -> list[str]:
    """The list of documents for those that run satrelay."""
    lines = section("README.md", "Read on")
    return lines[lines.index("To run it:") + 2 : lines.index("To understand and change it:") - 1]


def tables(lines: list[str]) -> list[list[list[str]]]:
    """The tables among the lines, each as rows of cells. The first row names the columns."""
    found: list[list[list[str]]] = []
    inside = False
    for line in lines:
        if not line.startswith("|"):
            inside = False
            continue
        if not inside:
            found.append([])
        inside = True
        if not re.fullmatch(r"[|\s:-]+", line):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            found[-1].append([cell.strip().replace("\\|", "|") for cell in cells])
    return found


def _write_table(page: Page, lines: list[str]) -> None:
    ((titles, *rows),) = tables(lines)
    for head, *cells in rows:
        texts = [prose(cells[0] + ".")]
        texts += [f"{escape(title.capitalize())}: {prose(cell)}." for title, cell in zip(titles[2:], cells[1:])]
        page.item([prose(head) if head.startswith("`") else bold(head)], *texts)


def _blocks(lines: list[str]):
    """Paragraphs, items, tables and code: lines of one kind that follow each other."""
    block: list[str] = []
    for line in [*lines, ""]:
        starts_item = line.startswith("- ")
        changes = block and (line.startswith("|") != block[0].startswith("|"))
        if (not line or starts_item or changes) and block:
            yield block
            block = []
        if line:
            block.append(line)


def write(page: Page, lines: list[str], code: bool = True) -> None:
    """Writes the lines into the page; without code if that is too wide for a page."""
    for block in _blocks(lines):
        if block[0].startswith("    "):
            if code:
                page.example("\n".join(line[4:] for line in block))
        elif block[0].startswith("- "):
            page.bullet(*(prose(line.removeprefix("- ").strip()) for line in block))
        elif block[0].startswith("|"):
            _write_table(page, block)
        else:
            page.paragraph(*(prose(line) for line in block))
