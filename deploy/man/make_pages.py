#!/usr/bin/env python3
"""Makes the manual pages of all programs and files.

Usage: make_pages.py --programs FOLDER --output FOLDER. FOLDER is a build folder, or a folder with the programs.

Options and commands come from --help, keys from --keys, and the exit statuses and files from the documents. The pages
are the same for the same programs. They bear a date only if SOURCE_DATE_EPOCH is set.
"""

import argparse
import os
import pathlib
import re
import sys
import time

import documents
from help_text import PROGRAMS, Argument, Command, Key, Programs, Unreadable
from roff import Page, bold, escape, italic, prose

GUIDE = "docs/guide.md"
CONFIGURATION = "docs/configuration.md"
# The files with their programs, titles, parts of the documents and samples.
FILES = {
    "satrelay.yaml": ("satrelayd", "configuration of a satrelay gateway", ["gateway.yaml"],
                      "config/samples/gateway-minimal.yaml"),
    "satlink.yaml": ("satlink", "configuration of a satlink link emulator", ["link.yaml", "A change"],
                     "config/samples/link.yaml"),
}
SECRET = ("satrelay-psk", "secret that two satrelay gateways share")
OVERVIEW = ("satrelay", "accelerates TCP over satellite links")
RELATED = {
    "satrelayd": ["satrelay-supervise", "satrelayctl", "satpanel", "satrelay.yaml", "satrelay-psk"],
    "satrelay-supervise": ["satrelayd", "satrelayctl", "satrelay.yaml"],
    "satrelayctl": ["satrelayd", "satpanel", "satrelay.yaml", "satrelay-psk"],
    "satpanel": ["satrelayd", "satrelayctl"],
    "satlink": ["satlink.yaml", "satperf", "satlab"],
    "satperf": ["satrelayd", "satlink"],
    "satlab": ["satlink", "satperf"],
    "satrelay.yaml": ["satrelayd", "satrelay-supervise", "satrelayctl", "satrelay-psk"],
    "satlink.yaml": ["satlink"],
    "satrelay-psk": ["satrelayctl", "satrelayd", "satrelay.yaml"],
}
SECTIONS = {**PROGRAMS, **dict.fromkeys([*FILES, SECRET[0]], 5), OVERVIEW[0]: 7}
# A page shows the forms of so few commands in its synopsis, and the general form of more.
MOST_FORMS = 6


def reference(name: str) -> str:
    return f"{bold(name)}({SECTIONS[name]})"


def write_related(page: Page, names: list[str]) -> None:
    page.heading("SEE ALSO")
    page.paragraph(", ".join(reference(name) for name in names))


def sentence(text: str) -> str:
    return text if not text or text.endswith((".", "?", "!")) else text + "."


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def heads_of(argument: Argument) -> list[str]:
    """The line above the text of an argument: -c FILE, --config FILE."""
    if not argument.is_option:
        words = [italic(argument.names[0])]
        if argument.value and argument.value != argument.names[0]:
            words.append(f"({escape(argument.value)})")
        return [" ".join(words)]
    value = " " + italic(argument.value) if argument.value else ""
    if argument.optional_value:
        begin = argument.optional_value.partition(argument.value)[0]
        value = f"{'' if begin == '[=' else ' '}{begin}{italic(argument.value)}]"
    return [", ".join(bold(name) + value for name in argument.names) + (" ..." if argument.repeats else "")]


def write_argument(page: Page, argument: Argument) -> None:
    texts = [prose(sentence(argument.help))]
    if argument.bounds:
        texts.append(escape(f"Allowed: {argument.bounds}."))
    if argument.default:
        texts.append(f"Default: {bold(argument.default)}.")
    if argument.is_option and argument.required:
        texts.append("This option is required.")
    if argument.needs:
        texts.append(f"Only together with {', '.join(bold(each) for each in argument.needs)}.")
    if argument.excludes:
        texts.append(f"Not together with {', '.join(bold(each) for each in argument.excludes)}.")
    page.item(heads_of(argument), *texts)


def write_form(command: Command) -> str:
    """The line of Usage, with the programs' and commands' names in bold."""
    own = " ".join(command.path)
    rest = command.usage.removeprefix(own).strip()
    rest = re.sub(r"([A-Z]+)\((\d)x\)", lambda found: " ".join([found[1]] * int(found[2])), rest)
    return bold(own) + (" " + escape(rest) if rest else "")


def paragraphs(footer: str) -> list[tuple[str, str]]:
    """The parts of a footer: text, list or example."""
    found: list[tuple[str, str]] = []
    for block in footer.split("\n\n") if footer else []:
        text: list[str] = []
        for line in block.split("\n"):
            kind = "example" if line.startswith("  ") else "list" if re.search(r"\S {2,}\S", line) else "text"
            if kind == "text":
                text.append(line)
                continue
            if text:
                found.append(("text", "\n".join(text)))
                text = []
            found.append((kind, line))
        if text:
            found.append(("text", "\n".join(text)))
    return found


def write_footer(page: Page, footer: str) -> list[str]:
    """Writes the description, and returns the lines of the examples."""
    examples = []
    for kind, text in paragraphs(footer):
        if kind == "example":
            examples.append(text.strip())
        elif kind == "list":
            head, explained = re.split(r" {2,}", text, maxsplit=1)
            page.item([bold(head)], prose(sentence(explained)))
        elif text != "Examples:" and not text.startswith("Exit status:"):
            page.paragraph(*(prose(line) for line in text.split("\n")))
    return examples


def write_arguments(page: Page, command: Command) -> None:
    for argument in command.arguments:
        if argument.names[-1] != "--help" or len(command.path) == 1:
            write_argument(page, argument)


def write_commands(page: Page, command: Command) -> None:
    for title, commands in command.groups:
        if title != "Subcommands":
            page.subheading(title)
        for each in commands:
            leaves = [leaf for leaf in each.walk() if not leaf.subcommands]
            for leaf in leaves:
                page.item([write_form(leaf)], prose(sentence(leaf.about)))
                page.indent()
                write_arguments(page, leaf)
                page.outdent()


def write_statuses(page: Page, name: str) -> None:
    """The exit statuses, from the tables of the guide."""
    (titles, *rows), = documents.tables(documents.section(GUIDE, "Exit statuses"))
    row = next((row for row in rows if row[0] == f"`{name}`"), None)
    if row is None:
        raise Unreadable(f"{GUIDE} says nothing of the exit statuses of {name}")
    page.heading("EXIT STATUS")
    if "the table above" in row:
        tables = documents.tables(documents.section(GUIDE, "Programs"))
        above = next(table for table in tables if table[0][0] == "status")
        for status, meaning, then in above[1:]:
            page.item([bold(status)], prose(sentence(capital(meaning))), prose(sentence(f"Then {then}")))
        return
    for title, cell in zip(titles[1:], row[1:]):
        if title.isdigit():
            if cell:
                page.item([bold(title)], prose(sentence(capital(cell))))
            continue
        for further in filter(None, cell.split("; ")):
            status, _, meaning = further.partition(": ")
            page.item([bold(status)], prose(sentence(meaning)))


def write_files(page: Page, name: str) -> None:
    """The files of a program or page, from the table of the guide."""
    table, = documents.tables(documents.section(GUIDE, "Files"))
    rows = [row for row in table[1:] if f"`{name}`" in row[1].split(", ")]
    if not rows:
        return
    page.heading("FILES")
    for file, _, content in rows:
        page.item([italic(file.strip("`"))], prose(sentence(capital(content))))


def program_page(page: Page, command: Command, summary: str) -> None:
    name = command.path[0]
    page.heading("NAME")
    page.paragraph(rf"{escape(name)} \- {escape(summary)}")
    page.heading("SYNOPSIS")
    leaves = [each for each in command.walk() if not each.subcommands]
    forms = leaves if 1 < len(leaves) <= MOST_FORMS else [command]
    if forms != [command] and "[SUBCOMMAND]" in command.usage:  # the program does something without one, too
        forms.insert(0, command)
    page.paragraph("\n.br\n".join(write_form(each) for each in forms))
    page.heading("DESCRIPTION")
    page.paragraph(prose(sentence(command.about)))
    examples = write_footer(page, command.footer)
    page.heading("OPTIONS")
    write_arguments(page, command)
    if command.groups:
        page.heading("COMMANDS")
        page.paragraph(f"Each command also has {bold('--help')}.")
        write_commands(page, command)
    write_statuses(page, name)
    write_files(page, name)
    if examples:
        page.heading("EXAMPLES")
        page.example("\n".join(examples))
    write_related(page, [*RELATED[name], OVERVIEW[0]])


def write_keys(page: Page, keys: list[Key]) -> None:
    """The keys by the parts of the file. Equal parts, and equal keys of one part, share their texts."""
    parts: dict[str, list[tuple[str, str, str]]] = {}
    for key in keys:
        top, _, rest = key.path.partition(".")
        parts.setdefault(top if rest else "", []).append((rest or top, key.values, key.help))
    equal: dict[tuple, list[str]] = {}
    for top, part in parts.items():
        equal.setdefault(tuple(part), []).append(top)
    for part, tops in sorted(equal.items(), key=lambda item: item[1] == [""]):
        page.subheading(", ".join(top.removesuffix("[]") for top in tops) or "Other keys")
        shared: dict[tuple[str, str, str], list[str]] = {}
        for rest, values, text in part:
            paths = [f"{top}.{rest}".lstrip(".") for top in tops]
            shared.setdefault((rest.rpartition(".")[2], values, text), []).extend(paths)
        for (_, values, text), paths in shared.items():
            page.item([bold(path) for path in paths], prose(sentence(values)), prose(text))


def file_page(page: Page, name: str, keys: list[Key]) -> None:
    program, title, sections, sample = FILES[name]
    page.heading("NAME")
    page.paragraph(rf"{escape(name)} \- {escape(title)}")
    page.heading("SYNOPSIS")
    table, = documents.tables(documents.section(GUIDE, "Files"))
    page.paragraph(*(italic(row[0].strip("`")) for row in table[1:] if f"{name}(5)" in row[2]))
    page.heading("DESCRIPTION")
    # The keys themselves come from the program below, so a list of them ends the text here.
    for section in sections:
        lines = documents.section(CONFIGURATION, section)
        begins = next((i for i, line in enumerate(lines) if line.startswith("- ")), len(lines))
        documents.write(page, lines[:begins])
    page.subheading("Values")
    documents.write(page, documents.section(CONFIGURATION, "Files, units and names"))
    page.heading("KEYS")
    page.paragraph(f"{bold(f'{program} --keys')} prints this list.",
                   f"{bold('NAME')} in a path is a name that the file chooses, and {bold('[]')} follows a list.")
    write_keys(page, keys)
    page.heading("EXAMPLES")
    page.example((documents.ROOT / sample).read_text(encoding="utf-8").strip())
    write_related(page, [*RELATED[name], OVERVIEW[0]])


def secret_page(page: Page) -> None:
    name, title = SECRET
    page.heading("NAME")
    page.paragraph(rf"{escape(name)} \- {escape(title)}")
    page.heading("DESCRIPTION")
    documents.write(page, documents.section(CONFIGURATION, "The file of a secret"))
    write_files(page, name)
    write_related(page, [*RELATED[name], OVERVIEW[0]])


def overview_page(page: Page, summaries: dict[str, str]) -> None:
    name, title = OVERVIEW
    page.heading("NAME")
    page.paragraph(rf"{escape(name)} \- {escape(title)}")
    page.heading("DESCRIPTION")
    # The question at the begin of the document is for readers of the web.
    lines = documents.section("README.md", "satrelay")
    documents.write(page, [line for line in lines if not line.endswith("?")], code=False)
    for heading, names in (("PROGRAMS", list(PROGRAMS)), ("FILES", [*FILES, SECRET[0]])):
        page.heading(heading)
        for each in names:
            page.item([reference(each)], escape(sentence(capital(summaries[each]))))
    page.heading("DOCUMENTS")
    documents.write(page, documents.for_operators())
    write_related(page, [each for each in SECTIONS if each != name])


def make_pages(programs: Programs) -> dict[str, str]:
    """The pages by the names of their files."""
    version = programs.version("satrelayd")
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    date = time.strftime("%Y-%m-%d", time.gmtime(int(epoch))) if epoch else ""
    pages = {name: Page(name, section, version, date) for name, section in SECTIONS.items()}
    summaries = {name: title for name, (_, title, _, _) in FILES.items()} | {SECRET[0]: SECRET[1]}
    for name in PROGRAMS:
        command = programs.command(name)
        about = command.about.removeprefix(f"{name}: ").removesuffix(".")
        command.about = capital(about)
        summaries[name] = about[0].lower() + about[1:]
        program_page(pages[name], command, summaries[name])
    for name, (program, *_) in FILES.items():
        file_page(pages[name], name, programs.keys(program))
    secret_page(pages[SECRET[0]])
    overview_page(pages[OVERVIEW[0]], summaries)
    return {f"{name}.{SECTIONS[name]}": page.text() for name, page in pages.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="folder of the programs, or of a build")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="folder of the pages")
    arguments = parser.parse_args()
    try:
        pages = make_pages(Programs(arguments.programs))
    except (Unreadable, LookupError) as error:
        print(f"make_pages.py: {error}", file=sys.stderr)
        return 1
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (arguments.output / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
