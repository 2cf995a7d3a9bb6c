"""Every check of tidy.py finds the breach it is for, and nothing in a clean tree."""

import pathlib
import tempfile
import unittest

import tidy

CLEAN = "// What it is for.\n#pragma once\n"


class TidyTest(unittest.TestCase):
    def breaches(self, check, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return list(tidy.CHECKS[check](tidy.Tree(folder)))

    def test_an_include_downstream_is_found(self):
        text = CLEAN + '#include "engine/engine.h"\n'
        self.assertIn("downstream", self.breaches("floors", {"daemon/plan/plan.h": text})[0])

    def test_an_include_upstream_is_allowed(self):
        text = CLEAN + '#include "plan/plan.h"\n'
        self.assertEqual([], self.breaches("floors", {"daemon/engine/engine.h": text}))

    def test_client_and_daemon_include_nothing_of_each_other(self):
        self.assertTrue(self.breaches("floors", {"client/src/a.cc": '#include "base/status.h"\n'}))
        self.assertTrue(self.breaches("floors", {"daemon/ring/a.cc": '#include <echoline/echoline.h>\n'}))
        self.assertEqual([], self.breaches("floors", {"daemon/cli/a.cc": "#include <echoline/echoline.h>\n"}))

    def test_a_circle_is_found_through_three_headers(self):
        files = {f"daemon/plan/{a}.h": CLEAN + f'#include "plan/{b}.h"\n' for a, b in ("ab", "bc", "ca")}
        self.assertEqual(1, len(self.breaches("circles", files)))

    def test_a_library_in_a_header_is_found(self):
        self.assertTrue(self.breaches("libraries", {"daemon/source/s3.h": "#include <curl/curl.h>\n"}))
        self.assertEqual([], self.breaches("libraries", {"daemon/source/s3.cc": "#include <curl/curl.h>\n"}))

    def test_a_thread_in_a_passive_room_is_found(self):
        self.assertTrue(self.breaches("threads", {"daemon/plan/a.cc": "std::jthread worker;\n"}))
        self.assertEqual([], self.breaches("threads", {"daemon/engine/a.cc": "std::jthread worker;\n"}))
        self.assertEqual([], self.breaches("threads", {"daemon/plan/a.cc": "// no std::thread here\n"}))

    def test_a_long_file_and_a_long_function_are_found(self):
        long_function = "int f(int x) {\n" + "  x += 1;\n" * 70 + "}\n"
        self.assertIn("72 lines", self.breaches("sizes", {"daemon/plan/a.cc": long_function})[0])
        method = "class A {\n  int f(int x) {\n" + "    x += 1;\n" * 70 + "  }\n};\n"
        self.assertIn("72 lines", self.breaches("sizes", {"daemon/plan/a.h": method})[0])
        self.assertTrue(self.breaches("sizes", {"daemon/plan/a.cc": "//\n" * 501}))
        self.assertEqual([], self.breaches("sizes", {"daemon/plan/a.cc": "//\n" * 500}))

    def test_empty_names_are_found(self):
        for name in ("daemon/base/string_util.h", "daemon/common/a.h", "client/src/loader-impl.cc"):
            self.assertTrue(self.breaches("names", {name: CLEAN}), name)
        self.assertTrue(self.breaches("names", {"daemon/base/a.h": "class RingManager {\n"}))
        self.assertEqual([], self.breaches("names", {"daemon/base/simple.h": "class Implied {\n"}))

    def test_a_stranger_at_the_top_level_is_found(self):
        self.assertTrue(self.breaches("places", {"src/a.cc": "//\n"}))
        self.assertEqual([], self.breaches("places", {"daemon/a.cc": "//\n", ".ci/run": "\n"}))

    def test_a_path_of_one_machine_is_found(self):
        self.assertTrue(self.breaches("places", {"docs/a.md": "see /ro" + "ot/notes\n"}))

    def test_a_file_without_purpose_or_guard_is_found(self):
        self.assertEqual(2, len(self.breaches("headers", {"daemon/base/a.h": "int x;\n"})))

    def test_unfinished_work_is_found(self):
        self.assertTrue(self.breaches("unfinished", {"daemon/base/a.cc": "// TO" + "DO: later\n"}))


if __name__ == "__main__":
    unittest.main()
