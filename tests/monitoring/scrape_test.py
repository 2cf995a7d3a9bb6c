#!/usr/bin/env python3
"""A real Prometheus scrapes a real daemon while a trainer reads: every query of the dashboard and of the rules has data,
and alerts fire."""
import math
import re
import signal
import subprocess
import unittest
import urllib.request

import queries
import watched_run
from prometheus_process import JOB, Prometheus


# Only streams with a `prepare`, `python` or `mix` step, preparation servers, trainers that report losses, and daemons with
# `etcd` have these metrics; process.preparation, process.python_step, process.mix, python.loader and e2e.Agreement read them.
OF_SOME_STREAMS = re.compile(r"echoline_(prepare|serve|served|python|mix|reported|etcd|echo_factor_awaits)_\w+")


class Scrape(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        queries.program("prometheus")
        cls.run_ = watched_run.WatchedRun()
        cls.addClassCleanup(cls.run_.__exit__)
        cls.run_.__enter__()
        for job in ("first", "second"):
            cls.run_.train(job)
        cls.run_.train_on_gpu()
        cls.prometheus = Prometheus(f"127.0.0.1:{cls.run_.port}")
        cls.addClassCleanup(cls.prometheus.stop)
        # Now every series has two values, also the latest one: hits in a second epoch.
        for expression in ('increase(echoline_cache_requests_total{level="memory", outcome="hit"}[30s]) > 0',
                           "echoline_upstream_downstream_ratio", "echoline_step_wait_seconds_total",
                           "rate(echoline_device_wait_seconds_total[30s])", "stream:echoline_wait:rate5m"):
            cls.prometheus.await_data(expression)

    def text(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.run_.port}/metrics") as answer:
            return answer.read()

    def test_promtool_accepts_the_metrics(self):
        done = subprocess.run([queries.program("promtool"), "check", "metrics"], input=self.text(), capture_output=True,
                              check=False)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, b""))

    def test_every_metric_is_there(self):
        served = set(re.findall(r"^# TYPE (\w+) ", self.text().decode(), re.MULTILINE))
        self.assertEqual(served, {name for name in queries.metrics() if not OF_SOME_STREAMS.fullmatch(name)})

    def test_every_query_of_the_dashboard_has_data(self):
        for place, expression in queries.expressions(interval="30s").items():
            with self.subTest(place=place, expression=expression):
                if OF_SOME_STREAMS.search(expression):
                    self.assertEqual(self.prometheus.query(expression), [])
                    continue
                found = self.prometheus.await_true(f"a number of {expression}", lambda asked=expression: [
                    labels for labels, value in self.prometheus.query(asked) if math.isfinite(value)])
                for labels in found:
                    self.assertIn(labels.get("stream", "train"), "train")

    def test_every_variable_of_the_dashboard_has_values(self):
        self.assertIn(JOB, self.prometheus.ask("label/job/values"))
        self.assertEqual(self.prometheus.ask("label/stream/values"), ["train"])

    def test_every_recorded_series_and_every_selection_of_an_alert_has_data(self):
        for group in self.prometheus.ask("rules")["groups"]:
            for rule in group["rules"]:
                with self.subTest(rule=rule["name"]):
                    self.prometheus.await_true(f"a first evaluation of {rule['name']}",
                                               lambda name=rule["name"]: self.health(name) != "unknown")
                    self.assertEqual(self.health(rule["name"]), "ok")
                    asked = [rule["name"]] if rule["type"] == "recording" else queries.selectors(rule["query"])
                    for expression in asked:
                        self.prometheus.await_data(expression)

    def health(self, name):
        return {rule["name"]: rule["health"] for group in self.prometheus.ask("rules")["groups"]
                for rule in group["rules"]}[name]

    def test_shares_are_shares(self):
        for name in ("stream:echoline_wait:rate5m", "stage_state:echoline_stage_share:rate5m",
                     "level:echoline_cache_hits:share_rate5m"):
            for labels, value in self.prometheus.await_data(name):
                self.assertTrue(0 <= value <= 1.05 or math.isnan(value), (name, labels, value))

    def test_what_is_wrong_is_told_and_nothing_else(self):
        """Records without a label cause this alert. The trainers wait too, but not yet long enough in five minutes."""
        self.prometheus.await_true("EcholineBadRecords", lambda: "EcholineBadRecords" in self.prometheus.alerts())
        self.assertLessEqual(set(self.prometheus.alerts()), {"EcholineBadRecords", "EcholineStalls"})


class DownTest(unittest.TestCase):
    def test_a_daemon_that_was_there_and_is_killed_is_told_of(self):
        with watched_run.WatchedRun() as run:
            prometheus = Prometheus(f"127.0.0.1:{run.port}")
            self.addCleanup(prometheus.stop)
            prometheus.await_data("echoline_build_info")
            self.assertEqual(prometheus.alerts(), {})
            run.daemon.stop(signal.SIGKILL)
            prometheus.await_true("EcholineDown", lambda: prometheus.alerts() == {"EcholineDown": "pending"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
