#!/usr/bin/env python3
"""The benchmark suite: its arithmetic, its tables and pictures, and one run of run.sh with a real daemon.
suite_test.py BUILD_FOLDER"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import xml.dom.minidom

from suite import chart, main, peers, report
from suite.rounds import Row, Spread, Table, Unavailable, cpu_seconds, interleave, number

RUN = pathlib.Path(__file__).with_name("run.sh")
TABLE = Table("A title", "photos per CPU-second",
              [Row("Ours", [1000.0, 1200.0, 1100.0]), Row("a | b", [500.0, 400.0, 550.0]), Row("absent", [], "not installed: <x>")],
              references=("Ours",))


class Rounds(unittest.TestCase):
    def test_each_loader_runs_once_a_round_in_turn(self):
        calls = []
        interleave({name: lambda name=name: calls.append(name) for name in "ab"}, 2)
        self.assertEqual(list("abab"), calls)

    def test_a_loader_that_fails_is_left_out_with_its_reason(self):
        def fail():
            raise Unavailable("no such thing")

        late = iter([lambda: 7, self.run_a_failing_program])
        found = interleave({"good": lambda: 7, "bad": fail, "late": lambda: next(late)()}, 2)
        self.assertEqual({"good": [7, 7]}, found.results)
        self.assertEqual("no such thing", found.reasons["bad"])
        self.assertEqual("failed with exit code 3: the reason", found.reasons["late"])

    @staticmethod
    def run_a_failing_program():
        subprocess.run(["sh", "-c", "echo the reason >&2; exit 3"], check=True, capture_output=True)

    def test_ratios_are_those_of_the_same_round_and_say_how_much_better_the_reference_is(self):
        self.assertEqual([2.0, 3.0, 2.0], TABLE.ratios(TABLE.rows[1], "Ours"))
        self.assertEqual([0.5, 400 / 1200, 0.5], TABLE._replace(more_is_better=False).ratios(TABLE.rows[1], "Ours"))
        self.assertEqual([], TABLE.ratios(TABLE.rows[0], "Ours") + TABLE.ratios(TABLE.rows[2], "Ours"))

    def test_the_spread_is_median_lowest_and_highest(self):
        self.assertEqual((2, 1, 9), Spread.of([9, 1, 2]))
        self.assertEqual(["1,136", "0.00410", "12.3", "0"], [number(value) for value in (1136.4, 0.0041, 12.34, 0)])

    def test_the_cpu_time_of_another_process_is_counted(self):
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
            deadline = time.monotonic() + 60
            while cpu_seconds(process.pid) < 0.1 and time.monotonic() < deadline:
                time.sleep(0.02)
            used = cpu_seconds(process.pid)
            process.kill()
        self.assertGreater(used, 0.1)
        self.assertLess(used, 60)


class Reports(unittest.TestCase):
    def test_a_table_names_every_loader_also_those_without_values(self):
        lines = report.table_markdown(TABLE).splitlines()
        self.assertEqual("| Ours | 1,100 (1,000 to 1,200) |  |", lines[2])
        self.assertEqual("| a / b | 500 (400 to 550) | 2.00 (2.00 to 3.00) |", lines[3])
        self.assertEqual("| absent | not installed: <x> |  |", lines[4])

    def test_a_picture_is_xml_with_a_bar_for_each_measured_loader(self):
        document = xml.dom.minidom.parseString(chart.draw([TABLE, TABLE]))
        bars = [each for each in document.getElementsByTagName("rect") if each.getAttribute("class") in ("bar", "ours")]
        self.assertEqual(4, len(bars))
        self.assertAlmostEqual(1100 / 500, float(bars[0].getAttribute("width")) / float(bars[1].getAttribute("width")), 2)

    def test_only_the_named_section_of_a_page_is_replaced(self):
        page = "a\n<!-- bench x -->\nold\n<!-- end of bench -->\nb\n<!-- bench y -->\nkept\n<!-- end of bench -->\n"
        self.assertEqual(page.replace("old", "\nnew\n"), report.replaced(page, "x", "new\n"))
        self.assertEqual(page, report.replaced(page, "z", "new"))

    def test_every_set_of_other_loaders_pins_all_its_packages(self):
        for path in sorted(peers.requirements("x").parent.glob("*.txt")):
            lines = path.read_text(encoding="utf-8").splitlines()
            self.assertTrue(lines[0].startswith("# "), path)
            self.assertTrue(lines[1:] and all("==" in line for line in lines[1:]), path)

    def test_every_loader_that_is_measured_is_in_its_set(self):
        import decode
        import decode_large
        import handoff
        import s3

        for group, package, *_ in [*decode.PEERS.values(), *decode_large.REDUCED_PEERS.values(), *handoff.PEERS.values(), *s3.PEERS.values()]:
            self.assertRegex(peers.version(group, package), r"^\d+\.")


class Command(unittest.TestCase):
    def test_one_command_measures_and_writes_table_picture_and_json(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([RUN, "--quick", "--rounds", "2", "--only", "startup", "--build", build_folder, "--out", folder],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(0, done.returncode, done.stderr)
            found = json.loads(pathlib.Path(folder, "startup.json").read_text(encoding="utf-8"))
            for table in found["tables"]:
                for row in table["rows"]:
                    self.assertEqual((2, ""), (len(row["values"]), row["reason"]), row)
                    self.assertGreater(min(row["values"]), 0)
            xml.dom.minidom.parse(str(pathlib.Path(folder, "bench_startup.svg")))
            self.assertIn("no index", pathlib.Path(folder, "benchmarks.md").read_text(encoding="utf-8"))

    def test_an_unknown_benchmark_is_an_error_that_names_those_there_are(self):
        done = subprocess.run([RUN, "--only", "nothing"], capture_output=True, text=True, check=False)
        self.assertEqual(2, done.returncode)
        self.assertIn("there are " + ", ".join(main.BENCHMARKS), done.stderr)


if __name__ == "__main__":
    build_folder = sys.argv.pop()
    if subprocess.run(["/usr/bin/python3", "-c", "import numpy, PIL"], capture_output=True, check=False).returncode != 0:
        print("skipped: python3-numpy and python3-pil are needed")
        sys.exit(77)
    unittest.main()
