#!/usr/bin/env python3
"""Each rule of check.py catches a breach in a small tree made for it, and accepts the proper form."""

import pathlib
import sys
import tempfile
import unittest

import check

HEADER = "// What it is for.\n#pragma once\n"


class StructureTest(unittest.TestCase):
    def findings(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
            return check.check(root)

    def include(self, includer, included):
        """Findings if one file includes another that exists, or a system header."""
        files = {includer: f"#include {included}\n"}
        if included.startswith('"'):
            files[included.strip('"')] = HEADER
        return self.findings(files)

    def test_allowed_directions(self):
        for includer, included in [
                ("pep/tcp/a.cc", '"pep/wire/b.h"'), ("pep/tcp/a.cc", '"pep/tcp/b.h"'),
                ("pep/stp/a.cc", '"pep/control/b.h"'), ("relay/gateway/a.cc", '"pep/stp/b.h"'),
                ("relay/gateway/a.cc", '"config/model/schema.h"'),
                ("relay/gateway/a.cc", '"relay/gateway/flows/b.h"'),
                ("relay/gateway/flows/a.cc", '"relay/gateway/rules/b.h"'),
                ("relay/gateway/rules/a.cc", '"relay/gateway/counters.h"'),
                ("pep/stp/fec/a.cc", '"pep/stp/packets/b.h"'),
                ("tests/sim/a.cc", '"relay/gateway/flows/b.h"'),
                ("relay/link/a.cc", '"config/model/schema.h"'), ("config/a.cc", '"pep/base/b.h"'),
                ("relay/dpdk/a.cc", "<rte_mbuf.h>"), ("relay/satrelayd/main.cc", "<rte_eal.h>"),
                ("relay/satlink/a.cc", '"relay/dpdk/b.h"'), ("pep/tcp/a.cc", "<algorithm>"),
                ("relay/ops/a.cc", "<chrono>"), ("relay/satlab/a.cc", '"relay/text/b.h"'),
                ("relay/satrelayctl/a.cc", '"relay/gateway/counters.h"'),
                ("relay/satpanel/a.cc", '"relay/gateway/counters.h"'),
                ("relay/satpanel/a.cc", '"relay/client/stats_client.h"'),
                ("tests/sim/a.cc", '"relay/gateway/b.h"')]:
            self.assertEqual(self.include(includer, included), [], (includer, included))

    def test_text_is_written_with_fmt(self):
        self.assertEqual(self.findings({"relay/sim/a.cc": 'fmt::print("{}", 1);\n'}), [])
        self.assertEqual(self.findings({"tests/sim/a.cc": 'std::printf("%d", 1);\n'}), [])
        for call in ("std::snprintf", "sprintf", "vsnprintf"):
            self.assertNotEqual(self.findings({"relay/sim/a.cc": call + '("%d", 1);\n'}), [], call)

    def test_forbidden_directions(self):
        for includer, included in [
                ("pep/base/a.cc", '"pep/wire/b.h"'), ("pep/tcp/a.cc", '"pep/stp/b.h"'),
                ("relay/satlab/a.cc", '"relay/satrelayctl/b.h"'), ("relay/text/a.cc", '"pep/base/b.h"'),
                ("relay/satrelayctl/a.cc", '"relay/gateway/gateway.h"'),
                ("relay/satpanel/a.cc", '"relay/gateway/gateway.h"'),
                ("pep/stp/a.cc", '"pep/tcp/b.h"'), ("pep/stp/a.cc", '"pep/wire/b.h"'),
                ("pep/compress/a.cc", '"pep/wire/b.h"'), ("pep/control/a.cc", '"pep/tcp/b.h"'),
                ("pep/tcp/a.cc", '"relay/gateway/b.h"'), ("pep/tcp/a.cc", '"config/model/schema.h"'),
                ("relay/gateway/a.cc", '"config/readers/loader.h"'),
                ("relay/gateway/rules/a.cc", '"relay/gateway/flows/b.h"'),
                ("relay/gateway/flows/a.cc", '"relay/gateway/gateway.h"'),
                ("relay/gateway/recovery/a.cc", '"relay/gateway/peers/b.h"'),
                ("pep/stp/wire/a.cc", '"pep/stp/session.h"'),
                ("pep/stp/streams/a.cc", '"pep/stp/packets/b.h"'),
                ("pep/stp/path/a.cc", '"pep/stp/streams/b.h"'),
                ("relay/gateway/a.cc", '"relay/dpdk/b.h"'), ("relay/link/a.cc", '"pep/tcp/b.h"'),
                ("config/a.cc", '"pep/wire/b.h"'), ("relay/dpdk/a.cc", '"relay/ops/b.h"'),
                ("relay/satlink/a.cc", '"relay/satrelayd/b.h"'),
                ("relay/gateway/a.cc", '"tests/sim/b.h"'), ("relay/gateway/a.cc", "<rte_mbuf.h>"),
                ("relay/satrelayd/workers/worker.cc", "<rte_mbuf.h>"), ("pep/tcp/a.cc", "<chrono>"),
                ("relay/gateway/a.cc", "<sys/socket.h>"), ("relay/link/a.cc", "<iostream>")]:
            self.assertEqual(len(self.include(includer, included)), 1, (includer, included))

    def test_includes_are_from_the_root(self):
        self.assertEqual(len(self.findings({"pep/tcp/a.cc": '#include "b.h"\n',
                                            "pep/tcp/b.h": HEADER})), 1)

    def test_a_folder_without_a_rule(self):
        self.assertEqual(len(self.findings({"pep/new/a.cc": ""})), 1)

    def test_headers(self):
        self.assertEqual(self.findings({"pep/base/a.h": HEADER}), [])
        self.assertEqual(len(self.findings({"pep/base/a.h": "#pragma once\n"})), 1)
        self.assertEqual(len(self.findings({"pep/base/a.h": "// Comment only.\n"})), 1)

    def test_unit_tests_have_the_path_of_their_unit(self):
        test = "tests/unit/config/text/units_test.cc"
        self.assertEqual(self.findings({test: "", "config/text/units.h": HEADER}), [])
        self.assertEqual(self.findings({"tests/unit/config/samples_test.cc": "",
                                        "config/samples/one.yaml": ""}), [])
        for unit in "config/readers/loader.h", "config/units_more.h", "pep/base/units.h":
            self.assertEqual(len(self.findings({test: "", unit: HEADER})), 1, unit)
        page = "tests/unit/relay/satpanel/assets/units.test.mjs"
        self.assertEqual(self.findings({page: "", "relay/satpanel/assets/units.js": ""}), [])
        self.assertEqual(len(self.findings({page: "", "relay/satpanel/assets/other.js": ""})), 1)
        self.assertEqual(self.findings({"tests/unit/pep/stp/recovery_test.cc": ""}), [])
        self.assertEqual(len(self.findings({"tests/unit/pep/stp/fec/recovery_test.cc": ""})), 1)

    def test_files_of_tests_have_a_namespace(self):
        text = "namespace satrelay::sim{} {{\nnamespace {{\nTEST(One, Two) {{}}\n}}\n}}\n"
        self.assertFalse(self.findings({"tests/sim/transfers/burst_test.cc": text.format("::burst_test")}))
        self.assertTrue(self.findings({"tests/sim/transfers/burst_test.cc": text.format("")}))
        self.assertTrue(self.findings({"tests/sim/transfers/burst_test.cc": text.format("::outage_test")}))

    def test_sizes(self):
        self.assertEqual(self.findings({"pep/base/a.cc": "\n" * 600}), [])
        self.assertEqual(len(self.findings({"pep/base/a.cc": "\n" * 601})), 1)

    def test_folders(self):
        thirty = {f"tests/e2e/test_{number}.py": "" for number in range(30)}
        self.assertEqual(self.findings(thirty | {"tests/e2e/meson.build": "", "tests/e2e/hosts/test_30.py": ""}), [])
        self.assertEqual(len(self.findings(thirty | {"tests/e2e/test_30.py": ""})), 1)

    def test_editor_settings(self):
        for good in [b"", b"one\n", "grün\n".encode(), b"a\tb\n", b"picture\0\r \xff"]:
            self.assertEqual(self.findings({"deploy/a.sh": good}), [], good)
        for bad in [b"one", b"one\r\n", b"one \n", b"one\t\ntwo\n", b"\tone\n", "grün\n".encode("latin1")]:
            self.assertEqual(len(self.findings({"deploy/a.sh": bad})), 1, bad)

    def test_the_version_is_in_one_place(self):
        project = {"meson.build": "project('satrelay', 'cpp',\n  version: '4.1.0',\n  meson_version: '>=1.0.0')\n"}
        others = "version 14.1.0.5 4.1.01 10.4.1.0 4.1.0.1\nraft 4.1.0\n"
        self.assertEqual(self.findings(project | {"deploy/a.sh": others}), [])
        self.assertEqual(len(self.findings(project | {"deploy/a.sh": "satrelay-4.1.0\n"})), 1)

    def test_leftovers(self):
        self.assertEqual(len(self.findings({"pep/base/a.cc": "// TO" + "DO: more\n"})), 1)
        self.assertEqual(len(self.findings({"deploy/a.sh": "# FIX" + "ME\n"})), 1)

    def test_machine_paths(self):
        for line in ["cd /wo" + "rk/main", '"/ro' + 'ot/x"', "/home/" + "user/x", "/tmp/" + "build-x"]:
            self.assertEqual(len(self.findings({"docs/a.md": line + "\n"})), 1, line)
        for line in ["network/work/x", "/tmp/satrelay", "the work of", "$HOME/build", "framework/"]:
            self.assertEqual(self.findings({"docs/a.md": line + "\n"}), [], line)


if __name__ == "__main__":
    sys.exit(unittest.main())
