#!/usr/bin/env python3
"""How many preparation servers deploy/monitoring/preparation_rules.yml wants, by promtool on series of hosts and servers."""
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import queries

PROMTOOL = queries.program("promtool")
RULES = queries.PREPARATION_RULES.read_text(encoding="utf-8")
STEP, STEPS, WORKERS = 15, 40, 4
WANTED = "round(namespace:echoline_servers_wanted:ratio, 0.001)"


def series(name, per_second, **labels):
    """A counter that grows by this much each second."""
    text = ", ".join(f'{key}="{value}"' for key, value in labels.items())
    return {"series": f"{name}{{{text}}}", "values": f"0+{per_second * STEP}x{STEPS}"}


def constant(name, value, **labels):
    return series(name, 0, **labels) | {"values": f"{value}x{STEPS}"}


def host(namespace, rows=300, echo=2, waits=((0.0, "fetch"),), instance="host", stream="s"):
    """A host whose trainers get this many rows a second, and wait for these shares of their time, by cause."""
    here = {"namespace": namespace, "instance": instance, "stream": stream}
    fresh = rows / echo
    return [series("echoline_samples_total", fresh, kind="fresh", **here),
            series("echoline_samples_total", rows - fresh, kind="echoed", **here),
            *(series("echoline_consumer_wait_seconds_total", share, consumer=f"job/{rank}", cause=cause, **here)
              for rank, (share, cause) in enumerate(waits))]


def reads_from_servers(namespace, instance="host", stream="s", local=0):
    """A host with servers, which prepares this many samples a second itself."""
    here = {"namespace": namespace, "instance": instance, "stream": stream}
    return [constant("echoline_prepare_requests_in_flight", 8, **here), series("echoline_prepare_local_records_total", local, **here)]


def server(namespace, busy, instance="server", working=(0, 0)):
    """A server that uses this share of its workers' processors, and whose workers prepare two streams for these shares of
    their time."""
    here = {"namespace": namespace, "instance": instance}
    return [series("process_cpu_seconds_total", busy * WORKERS, **here), constant("echoline_workers", WORKERS, **here),
            constant("echoline_serve_bytes_limit", 1, **here),
            *(series("echoline_stage_seconds_total", share * WORKERS, stream=stream, stage="prep", state="busy", **here)
              for stream, share in zip("st", working))]


class ServersWanted(unittest.TestCase):
    def check(self, inputs, expected, accepted_echo=None):
        """`expected`: the value for each namespace."""
        rules = RULES if accepted_echo is None else RULES.replace("vector(1000)", f"vector({accepted_echo})")
        samples = [{"labels": f'{{namespace="{name}"}}' if name else "{}", "value": value} for name, value in expected.items()]
        test = {"rule_files": ["rules.yml"], "evaluation_interval": f"{STEP}s", "tests": [
            {"interval": f"{STEP}s", "input_series": inputs,
             "promql_expr_test": [{"expr": WANTED, "eval_time": "5m", "exp_samples": samples}]}]}
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "rules.yml").write_text(rules, encoding="utf-8")
            pathlib.Path(folder, "test.yml").write_text(json.dumps(test), encoding="utf-8")
            done = subprocess.run([PROMTOOL, "test", "rules", "test.yml"], cwd=folder, capture_output=True, text=True,
                                  check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_servers_are_added_when_trainers_wait_and_removed_when_servers_are_idle(self):
        cases = {
            # Two trainers wait for half of their time: twice the servers.
            "short": (2, host("short", waits=((0.5, "fetch"), (0.5, "fetch"))) + server("short", busy=0.9)),
            # 4 % more would be used: the least change that the autoscaler of Kubernetes makes.
            "little": (1.15, host("little", waits=((0.04, "fetch"),)) + server("little", busy=0.9)),
            # Their workers are at work, although they get few processors.
            "crowded": (2, host("crowded", waits=((0.5, "fetch"),)) + server("crowded", busy=0.3, working=(0.5, 0.3))),
            "right": (1, host("right", waits=((0.02, "fetch"),)) + server("right", busy=0.7)),
            # 60 % idle: half as many would be busy for 80 %.
            "idle": (0.5, host("idle") + server("idle", busy=0.4)),
            # They wait for their own host.
            "prep": (0.5, host("prep", waits=((0.5, "prep"),)) + server("prep", busy=0.4)),
            # They wait although the servers have nothing to do: the limit is the store or the network.
            "elsewhere": (1, host("elsewhere", waits=((0.5, "fetch"),)) + server("elsewhere", busy=0.1)),
            "": (2, host("", waits=((0.5, "fetch"),)) + server("", busy=1.2)),  # without Kubernetes
        }
        inputs = [one for name, (_, parts) in cases.items() for one in parts + reads_from_servers(name)]
        self.check(inputs, {name: wanted for name, (wanted, _) in cases.items()})

    def test_the_neediest_stream_decides_and_those_without_servers_do_not_count(self):
        inputs = (host("n", waits=((0.5, "fetch"),), stream="needy") + reads_from_servers("n", stream="needy") +
                  host("n", stream="content") + reads_from_servers("n", stream="content") +
                  host("n", waits=((0.9, "fetch"),), stream="alone") + server("n", busy=1, instance="a") +
                  server("n", busy=0.7, instance="b"))
        self.check(inputs, {"n": 2})

    def test_hosts_of_a_stream_are_weighted_by_their_rows(self):
        inputs = (host("n", rows=300, waits=((0.5, "fetch"),), instance="a") + reads_from_servers("n", instance="a") +
                  host("n", rows=100, instance="b") + reads_from_servers("n", instance="b") + server("n", busy=1))
        self.check(inputs, {"n": 1.75})

    def test_a_host_whose_trainers_pause_changes_nothing(self):
        inputs = (host("n", waits=((0.5, "fetch"),), instance="a") + reads_from_servers("n", instance="a") +
                  host("n", rows=0, instance="b") + reads_from_servers("n", instance="b") + server("n", busy=1))
        self.check(inputs, {"n": 2})

    def test_samples_that_hosts_prepare_themselves_are_missing_ones(self):
        inputs = (host("few") + reads_from_servers("few", local=30) + server("few", busy=0.9) +
                  host("away") + reads_from_servers("away", local=150) + server("away", busy=0.1))
        self.check(inputs, {"few": 1.25, "away": 1})

    def test_more_echo_than_accepted_counts_as_too_few_servers(self):
        inputs = host("n", echo=4) + reads_from_servers("n") + server("n", busy=0.9)
        self.check(inputs, {"n": 1})
        self.check(inputs, {"n": 2}, accepted_echo=2)
        self.check(inputs, {"n": 4}, accepted_echo=1)

    def test_without_a_trainer_the_servers_go_and_without_servers_nothing_is_wanted(self):
        quiet = host("quiet", rows=0, waits=()) + reads_from_servers("quiet") + server("quiet", busy=0.08)
        alone = host("alone", waits=((0.5, "fetch"),)) + reads_from_servers("alone")
        self.check(quiet + alone, {"quiet": 0.1})


if __name__ == "__main__":
    unittest.main(verbosity=2)
