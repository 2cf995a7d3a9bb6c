"""Every check of tidy.py finds the breach it is for, and nothing in a clean tree."""

import pathlib
import tempfile
import unittest

import tidy
from tree import Tree

CLEAN = "// What it is for.\n#pragma once\n"
MODULES = """echoline_module(base LINKS fmt::fmt)
echoline_module(plan USES base)
echoline_module(engine/walk
  USES base plan LINKS fmt::fmt)
echoline_module(cli USES base)
"""


class TidyTest(unittest.TestCase):
    def breaches(self, check, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return list(tidy.CHECKS[check](Tree(folder)))

    def test_an_include_of_an_unused_module_is_found(self):
        files = {"daemon/CMakeLists.txt": MODULES, "daemon/plan/plan.h": CLEAN + '#include "engine/walk/walk.h"\n'}
        self.assertIn("does not use", self.breaches("modules", files)[0])

    def test_an_include_of_a_used_module_is_allowed(self):
        files = {"daemon/CMakeLists.txt": MODULES, "daemon/engine/walk/walk.h": CLEAN + '#include "plan/plan.h"\n'}
        self.assertEqual([], self.breaches("modules", files))

    def test_a_folder_that_is_no_module_is_found(self):
        files = {"daemon/CMakeLists.txt": MODULES, "daemon/engine/a.h": CLEAN}
        self.assertIn("no module", self.breaches("modules", files)[0])

    def test_a_module_that_uses_a_later_one_is_found(self):
        files = {"daemon/CMakeLists.txt": "echoline_module(plan USES base)\necholine_module(base)\n"}
        self.assertIn("before", self.breaches("modules", files)[0])

    def test_client_and_daemon_include_nothing_of_each_other(self):
        for name, include in (("client/src/a.cc", '"base/status.h"'), ("daemon/plan/a.cc", "<echoline/echoline.h>")):
            files = {"daemon/CMakeLists.txt": MODULES, name: f"#include {include}\n"}
            self.assertTrue(self.breaches("modules", files), name)
        files = {"daemon/CMakeLists.txt": MODULES, "daemon/cli/a.cc": "#include <echoline/echoline.h>\n"}
        self.assertEqual([], self.breaches("modules", files))

    def test_a_circle_is_found_through_three_headers(self):
        files = {f"daemon/plan/{a}.h": CLEAN + f'#include "plan/{b}.h"\n' for a, b in ("ab", "bc", "ca")}
        self.assertTrue([breach for breach in self.breaches("circles", files) if "3 headers" in breach])

    def test_a_knot_of_units_is_found_where_headers_have_none(self):
        files = {}
        for a, b in ("ab", "bc", "ca"):
            files[f"daemon/plan/{a}.h"] = CLEAN
            files[f"daemon/plan/{a}.cc"] = f'#include "plan/{a}.h"\n#include "plan/{b}.h"\n'
        self.assertEqual(["circle of 3 units: daemon/plan/a, daemon/plan/b, daemon/plan/c"],
                         self.breaches("circles", files))

    def test_a_circle_of_folders_is_found(self):
        files = {"client/src/a.h": CLEAN + '#include "cuda/b.h"\n', "client/src/cuda/b.h": CLEAN,
                 "client/src/c.h": CLEAN, "client/src/cuda/d.h": CLEAN + '#include "c.h"\n'}
        self.assertIn("2 folders", self.breaches("circles", files)[0])

    def test_a_class_is_measured_over_all_its_files(self):
        header = CLEAN + "class Big {\n" + "  int f();\n" * 100 + "};\n"
        source = "".join(f"int Big::f{n}() {{\n" + "  g();\n" * 48 + "}\n" for n in range(2))
        files = {"daemon/plan/big.h": header, "daemon/plan/big.cc": source, "daemon/plan/big_more.cc": source}
        self.assertIn("class Big has 302 lines", self.breaches("classes", files)[0])
        self.assertEqual([], self.breaches("classes", {**files, "daemon/plan/big_more.cc": "int f() {\n}\n"}))

    def test_odd_words_are_found_in_comments_only(self):
        self.assertIn("'anew'", self.breaches("words", {"daemon/plan/a.h": "// Made an" + "ew.\n"})[0])
        self.assertEqual([], self.breaches("words", {"daemon/plan/a.h": "int told;  // Sent.\n"}))
        self.assertTrue(self.breaches("words", {"docs/a.md": "Whoever reads.\n"}))

    def test_a_library_in_a_header_is_found(self):
        self.assertTrue(self.breaches("libraries", {"daemon/source/s3.h": "#include <curl/curl.h>\n"}))
        self.assertEqual([], self.breaches("libraries", {"daemon/source/s3.cc": "#include <curl/curl.h>\n"}))

    def test_a_thread_in_a_passive_module_is_found(self):
        self.assertTrue(self.breaches("threads", {"daemon/plan/a.cc": "std::jthread worker;\n"}))
        self.assertEqual([], self.breaches("threads", {"daemon/engine/a.cc": "std::jthread worker;\n"}))
        self.assertEqual([], self.breaches("threads", {"daemon/plan/a.cc": "// no std::thread here\n"}))

    def test_a_lock_that_clang_does_not_check_is_found(self):
        self.assertTrue(self.breaches("locks", {"daemon/ring/a.h": "mutable std::mutex mutex_;\n"}))
        self.assertTrue(self.breaches("locks", {"daemon/ring/a.cc": "std::unique_lock<T> lock(mutex_);\n"}))
        self.assertTrue(self.breaches("locks", {"daemon/ring/a.h": "std::condition_variable_any changed_;\n"}))
        self.assertEqual([], self.breaches("locks", {"daemon/base/mutex.h": "std::mutex inner_;\n"}))
        self.assertEqual([], self.breaches("locks", {"daemon/ring/a.h": "// no std::mutex here\n"}))
        self.assertEqual([], self.breaches("locks", {"client/src/a.cc": "std::mutex mutex;\n"}))

    def test_a_long_file_and_a_long_function_are_found(self):
        long_function = "int f(int x) {\n" + "  x += 1;\n" * 70 + "}\n"
        self.assertIn("72 lines", self.breaches("sizes", {"daemon/plan/a.cc": long_function})[0])
        parameters = long_function.replace("int x)", "int x,\n      int y)")
        self.assertIn("73 lines", self.breaches("sizes", {"daemon/plan/a.cc": parameters})[0])
        lambdas = "void f() {\n  g(\n      1, [](int x) {\n        x += 1;\n      });\n}\n" + "void h() {\n  i();\n}\n" * 40
        self.assertEqual([], self.breaches("sizes", {"daemon/plan/a.cc": lambdas}))
        method = "class A {\n  int f(int x) {\n" + "    x += 1;\n" * 70 + "  }\n};\n"
        self.assertIn("72 lines", self.breaches("sizes", {"daemon/plan/a.h": method})[0])
        self.assertTrue(self.breaches("sizes", {"daemon/plan/a.cc": "//\n" * 501}))
        self.assertEqual([], self.breaches("sizes", {"daemon/plan/a.cc": "//\n" * 500}))

    def test_empty_names_are_found(self):
        for name in ("daemon/base/string_util.h", "daemon/common/a.h", "client/src/loader-impl.cc"):
            self.assertTrue(self.breaches("names", {name: CLEAN}), name)
        self.assertTrue(self.breaches("names", {"daemon/base/a.h": "class RingManager {\n"}))
        self.assertEqual([], self.breaches("names", {"daemon/base/simple.h": "class Implied {\n"}))
        self.assertTrue(self.breaches("names", {"tests/base/a_test.cc": "TEST_F(Aim,\n       is_missed) {\n"}))
        self.assertEqual([], self.breaches("names", {"tests/base/a_test.cc": "TEST(Aim, IsMet) {\n"}))

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
