#!/usr/bin/env python3
"""promtool checks the files of deploy/monitoring and runs the rules on recorded series. Every alert has tests and a section
in docs/operations.md."""
import pathlib
import re
import subprocess
import unittest

import queries

PROMTOOL = queries.program("promtool")
CASES = pathlib.Path(__file__).resolve().parent / "alerts_test.yml"
ALERTS = queries.RULES[1].read_text(encoding="utf-8")
NAMES = re.findall(r"- alert: (\w+)", ALERTS)


def promtool(*arguments):
    done = subprocess.run([PROMTOOL, *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class Rules(unittest.TestCase):
    def check_accepted(self, *arguments):
        code, said = promtool(*arguments)
        self.assertEqual(code, 0, said)

    def test_promtool_accepts_the_files(self):
        self.check_accepted("check", "config", queries.MONITORING / "prometheus.yml")
        self.check_accepted("check", "rules", "--lint=all", "--lint-fatal", *queries.RULES,
                            queries.PREPARATION_RULES)

    def test_alerts_fire_when_they_should_and_only_then(self):
        self.check_accepted("test", "rules", CASES)

    def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not(self):
        cases = CASES.read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"^  - name: (\w+)", cases, re.MULTILINE), NAMES)
        for name in NAMES:
            self.assertRegex(cases, rf"alertname: {name}, exp_alerts: \[\]")
            self.assertRegex(cases, rf"alertname: {name}\n +exp_alerts:\n +- exp_labels")

    def test_every_alert_has_a_severity_a_text_and_a_section_of_the_runbook(self):
        page = (queries.ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
        sections = dict(re.findall(r"^## (Echoline\w+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
        self.assertEqual(list(sections), NAMES)
        for name, text in zip(NAMES, re.split(r"- alert: ", ALERTS)[1:], strict=True):
            with self.subTest(alert=name):
                self.assertRegex(text, r"\n        for: \d+m\n")
                self.assertRegex(text, r"severity: (critical|warning)")
                self.assertRegex(text, r"summary: \".+\"")
                self.assertIn("description: ", text)
                self.assertIn(f"runbook_url: docs/operations.md#{name.lower()}\n", text)
                for part in ("**Meaning.**", "**Cause.**", "**Remedy.**"):
                    self.assertIn(part, sections[name])

    def test_rules_read_only_existing_metrics(self):
        for path in (*queries.RULES, queries.PREPARATION_RULES):
            text = re.sub(r"^ *#.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
            for expression in re.findall(r"expr: (.*?)(?=\n\n|\n +for:|\Z)", text, re.DOTALL):
                self.assertLessEqual(queries.names(expression), set(queries.metrics()), expression)


if __name__ == "__main__":
    unittest.main(verbosity=2)
