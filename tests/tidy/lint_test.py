#!/usr/bin/env python3
"""lint.py finds what it must in a small tree made for it, with the settings of this tree."""

import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

import lint
import repository

SETTINGS = (".editorconfig", ".flake8", ".shellcheckrc", lint.PANEL)
GOOD = {
    "shell": {"deploy/a.sh": '#!/bin/sh\nif [ -n "$1" ]; then\n  echo "$1"\nfi\n'},
    "python": {"tests/a.py": "import os\n\nprint(os.sep)\n"},
    "javascript": {
        "relay/satpanel/assets/a.js": 'import {two} from "./b.js";\nwindow.name = two(1);\n',
        "relay/satpanel/assets/b.js": "export const two = (one) => `${one ?? 2}`;\n",
    },
}
SYNTAX_ERRORS = {"shell": "#!/bin/sh\nif true; then\n", "python": "print(\n", "javascript": "window.name = ;\n"}
BAD = {
    "shell": {
        "a variable without quotes": "#!/bin/sh\necho $1\n",
        "another indentation": "#!/bin/sh\nif true; then\n    echo\nfi\n",
    },
    "python": {
        "a name that does not exist": "print(sep)\n",
        "an import that is not used": "import os\n",
        "a line that is too long": f"print('{'x' * 120}')\n",
    },
    "javascript": {
        "a name that does not exist": "window.name = tow(1);\n",
        "an export that does not exist": 'import {three} from "./b.js";\nwindow.name = three(1);\n',
        "a member that does not exist": 'import * as b from "./b.js";\nwindow.name = b.three(1);\n',
        "a module that does not exist": 'import {two} from "./c.js";\nwindow.name = two(1);\n',
        "an import that is not used": 'import {two} from "./b.js";\n',
        "an argument too many": 'import {two} from "./b.js";\nwindow.name = two(1, 2);\n',
    },
}


class LintTest(unittest.TestCase):
    def run_on(self, language, files):
        """The findings of lint.py in a tree with these files."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            for name in SETTINGS:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(repository.ROOT / name, root / name)
            return "\n".join(lint.check(root, language))

    def test_finds(self):
        for language, cases in BAD.items():
            folder = pathlib.PurePath(next(iter(GOOD[language]))).parent
            ending = lint.ENDINGS[language][0]
            bad = {str(folder / f"bad_{n}{ending}"): text for n, text in enumerate(cases.values())}
            found = self.run_on(language, GOOD[language] | bad)
            for name, what in zip(bad, cases, strict=True):
                self.assertIn(name, found, f"{language}: {what}")
            for name in GOOD[language]:
                self.assertNotIn(name, found)

    def test_finds_syntax_errors(self):
        for language, text in SYNTAX_ERRORS.items():
            first = next(iter(GOOD[language]))
            self.assertIn(first, self.run_on(language, GOOD[language] | {first: text}))

    def test_accepts(self):
        for language, files in GOOD.items():
            self.assertEqual(self.run_on(language, files), "")

    def test_a_script_without_an_ending(self):
        for text in BAD["shell"].values():
            self.assertIn("deploy/b", self.run_on("shell", GOOD["shell"] | {"deploy/b": text}), text)
        text = "#!/usr/bin/env python3\nprint(x)\n"
        self.assertIn("tests/b", self.run_on("python", GOOD["python"] | {"tests/b": text}))

    def test_a_missing_tool_is_a_finding_with_its_cure(self):
        with mock.patch.object(lint.shutil, "which", return_value=None):
            for language, files in GOOD.items():
                found = self.run_on(language, files)
                for command, _ in lint.TOOLS[language]:
                    self.assertIn(f"{command[0]} is missing", found)
                self.assertIn("run deploy/setup.sh --test-programs", found)

    def test_a_tree_without_scripts_is_a_finding(self):
        self.assertIn("has no shell", self.run_on("shell", {}))


if __name__ == "__main__":
    unittest.main()
