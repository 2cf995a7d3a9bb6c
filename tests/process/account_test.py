#!/usr/bin/env python3
"""The account of time closes: stages add up to the wall time of their threads, waits to what the trainer measures itself, steps to
the busy time of the workers. `echoline analyze` names the limit and predicts what removing it gives, and `echoline trace` shows
the same waits span by span."""
import bisect
import itertools
import json
import os
import re
import subprocess
import threading
import time
from xml.etree import ElementTree

from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import binary, end_with_parent, require_library, wait_until

require_library()

import echoline  # noqa: E402

WORKERS, BATCH, RECORDS = 2, 8, 160
WITHIN = 0.01


class Trainer:
    """A thread that takes batches and works for `step` seconds on each."""

    def __init__(self, daemon, step, job="default"):
        self.waits, self._step, self._ends = [], step, threading.Event()
        self._loader = echoline.Loader("train", job, runtime_dir=daemon.runtime_dir)
        self._thread = threading.Thread(target=self._train)
        self._thread.start()

    def _train(self):
        while not self._ends.is_set():
            asked = time.perf_counter()
            batch = self._loader.next()
            if batch is None:  # the end of an epoch
                continue
            self.waits.append(time.perf_counter() - asked)
            del batch
            time.sleep(self._step)

    @property
    def waited(self):
        return sum(self.waits)

    def pause(self):
        """Ends the loop; the trainer stays attached."""
        self._ends.set()
        self._thread.join()

    def stop(self):
        self.pause()
        self._loader.close()


class WaitCounter:
    """Reads the daemon's counter of the trainers' waits all the time, so that it is known at any moment of a trace."""

    def __init__(self, daemon):
        self._daemon, self._seen, self._ends = daemon, [], threading.Event()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self):
        while not self._ends.wait(0.01):
            asked_ns = time.monotonic_ns()
            waited = self._daemon.total("echoline_consumer_wait_seconds_total")
            self._seen.append(((asked_ns + time.monotonic_ns()) // 2, waited))

    def between(self, begin_ns, end_ns):
        wait_until(lambda: self._seen and self._seen[-1][0] > end_ns, "a reading after the end")
        return self._at(end_ns) - self._at(begin_ns)

    def _at(self, moment_ns):
        after = bisect.bisect(self._seen, (moment_ns, 0))
        (before_ns, before), (after_ns, behind) = self._seen[after - 1], self._seen[after]
        return before + (behind - before) * (moment_ns - before_ns) / (after_ns - before_ns)

    def stop(self):
        self._ends.set()
        self._thread.join()


class TraceFile:
    """Spans of a trace file, in microseconds."""

    def __init__(self, path):
        document = json.loads(path.read_text())
        self.about = document["otherData"]
        events = document["traceEvents"]
        self._groups = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        self.tracks = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        self.all = [event for event in events if event["ph"] == "X"]

    def of(self, group, *names):
        return [span for span in self.all if self._groups[span["pid"]] == group and (not names or span["name"] in names)]

    def crossings(self):
        """Pairs of spans of one track that overlap without one being inside the other."""
        found = []
        for _, spans in itertools.groupby(sorted(self.all, key=lambda span: span["tid"]), key=lambda span: span["tid"]):
            outer = []
            for span in sorted(spans, key=lambda span: (span["ts"], -span["dur"])):
                while outer and end_of(outer[-1]) <= span["ts"] + 0.001:
                    outer.pop()
                found += [(outer[-1], span)] if outer and end_of(span) > end_of(outer[-1]) + 0.001 else []
                outer.append(span)
        return found


def end_of(span):
    return span["ts"] + span["dur"]


def contains(outer, inner):
    return outer["ts"] <= inner["ts"] + 0.001 and end_of(inner) <= end_of(outer) + 0.001


class Account(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.url = photos.made_shards(cls.class_folder(), shards=1, records=RECORDS)[0]
        cls.record_bytes = cls.url.stat().st_size / RECORDS

    def daemon(self, records_per_second, publish="{}", **options):
        rate = records_per_second * self.record_bytes
        steps = [f"read: {{url: '{self.url}', format: webdataset, read_ahead: {16 * self.record_bytes:.0f}B, "
                 f"throttle: {{rate: {rate:.0f}B/s}}}}", "decode: {image: {key: jpg, as: rgb}}",
                 "random_resized_crop: {field: image, size: [64, 64]}",
                 "normalize: {field: image, mean: [0, 0, 0], std: [1, 1, 1]}", f"batch: {{size: {BATCH}}}", f"publish: {publish}"]
        return self.started(Daemon(stream_yaml(steps), workers=WORKERS, metrics=True, **options))

    def stages(self, daemon):
        """({stage: seconds in all states}, the time)."""
        lines = daemon.metric_lines("echoline_stage_seconds_total")
        seen = time.monotonic()
        return {stage: sum(value for labels, value in lines.items() if f'stage="{stage}"' in labels)
                for stage in ("fetch", "prep", "publish")}, seen

    def step_seconds(self, daemon):
        return daemon.total("echoline_step_seconds_total")

    def is_near(self, value, wanted, within):
        return abs(value - wanted) < within * wanted

    def analyze(self, daemon, *more):
        done = daemon.command("analyze", "train", "--for", "3s", "--json", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_stages_waits_and_steps_add_up_and_the_slow_store_is_found(self):
        daemon = self.daemon(records_per_second=100)
        trainer = self.resource(Trainer(daemon, step=BATCH / 400))
        begin, began = self.stages(daemon)
        picture, table = self.folder() / "rates.svg", self.folder() / "worth.csv"
        table.write_text("2, 0.5\n4, 0.31\n")
        found = self.analyze(daemon, "--what-if", "store.rate=x2", "--svg", str(picture), "--usefulness", str(table))
        end, ended = self.stages(daemon)
        trainer.pause()
        time.sleep(0.05)  # until the next tick of the daemon has charged the last wait
        for stage, threads in (("fetch", 1), ("prep", WORKERS), ("publish", 1)):
            wall = (ended - began) * threads
            self.assertLess(abs((end[stage] - begin[stage]) / wall - 1), WITHIN, stage)
        waited = daemon.total("echoline_consumer_wait_seconds_total")
        self.assertLess(abs(waited / trainer.waited - 1), WITHIN, (waited, trainer.waited))
        # What its rows take at the end of a wait does not count: the next batch lacks its bytes, too.
        self.assertGreater(daemon.total("echoline_fetch_wait_seconds_total", place="store"), 0.95 * waited)
        self.assertAlmostEqual(daemon.total("echoline_endpoint_wait_seconds_total", endpoint="file"),
                               daemon.total("echoline_fetch_wait_seconds_total", place="store"), delta=0.1)
        self.check_histogram_of_waits(daemon, trainer)
        steps = daemon.metric_lines("echoline_step_seconds_total")
        for step in ("decode image", "random_resized_crop image", "normalize image"):
            self.assertTrue(any(f'step="{step}"' in labels for labels in steps), steps)
        # Between the two looks another row may be timed.
        wait_until(lambda: self.is_near(daemon.total("echoline_row_seconds_sum", kind="first"), self.step_seconds(daemon), 0.02),
                   "the steps of the timed rows add up to their time")
        self.assertEqual(found["now"]["limit"], "storage")
        # Where a control group limits the CPU time, they sleep.
        self.assertEqual(found["measured"]["workers_awake"], found["measured"]["processors"] == len(os.sched_getaffinity(0)))
        self.assertAlmostEqual(found["measured"]["rows_per_second"] / found["now"]["rows_per_second"], 1, delta=0.15)
        self.assertAlmostEqual(found["what_if"][0]["rows_per_second"] / found["now"]["rows_per_second"], 2, delta=0.01)
        self.assertAlmostEqual(found["measured"]["trainer_rows"] / 400, 1, delta=0.2)
        shapes = [shape.tag.rpartition("}")[2] for shape in ElementTree.parse(picture).iter()]
        self.assertEqual((shapes.count("polyline"), shapes.count("circle")), (4, 4), "a curve and today, four times")
        self.assertEqual([target["factor"] for target in found["targets"]], [1, 2, 4])
        self.assertAlmostEqual(found["targets"][1]["time"], 0.5, delta=0.01)  # a second use costs nothing here

    def check_histogram_of_waits(self, daemon, trainer):
        name = "echoline_consumer_batch_wait_seconds"
        wait_until(lambda: daemon.total(f"{name}_count") == len(trainer.waits), "all waits are counted")
        self.assertLess(abs(daemon.total(f"{name}_sum") / trainer.waited - 1), WITHIN)
        for labels, counted in daemon.metric_lines(f"{name}_bucket").items():
            bound = float(re.search(r'le="([^"]+)"', labels).group(1))
            least, most = (sum(wait <= factor * bound + more for wait in trainer.waits)
                           for factor, more in ((0.98, -0.005), (1.02, 0.02)))  # Python measures a bit more
            self.assertTrue(least <= counted <= most, (labels, counted, least, most))

    def traced(self, daemon, seconds):
        out = self.folder() / "trace.json"
        done = daemon.command("trace", "train", "--seconds", str(seconds), "--out", str(out))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("open it in https://ui.perfetto.dev", done.stdout)
        trace = TraceFile(out)
        self.assertEqual((trace.about["stream"], trace.about["dropped"], trace.about["spans"]), ("train", 0, len(trace.all)))
        return trace

    def test_a_trace_has_the_waits_of_the_counters_and_leads_from_a_batch_to_its_records(self):
        daemon = self.daemon(records_per_second=100)
        self.resource(Trainer(daemon, step=BATCH / 400))
        counter = self.resource(WaitCounter(daemon))
        trace = self.traced(daemon, 3)
        self.assertEqual(trace.crossings(), [])
        waits = trace.of("trainers")
        self.assertRegex(trace.tracks[waits[0]["tid"]], r"^job default rank 0 \(process \d+\)$")
        waited = sum(span["dur"] for span in waits) * 1e-6
        counted = counter.between(trace.about["begin_ns"], trace.about["end_ns"])
        self.assertGreater(counted, 1)
        self.assertLess(abs(waited / counted - 1), 0.05, (waited, counted))
        at_store = [span for span in waits if span["name"] == "wait: fetch" and span["args"]["place"] == "store"]
        self.assertGreater(sum(span["dur"] for span in at_store) * 1e-6, 0.7 * waited)
        self.check_batches(daemon, trace)
        self.check_reads(trace)
        for group, name in (("pass threads", "wait: bytes"), ("workers", "wait: bytes"), ("fetch thread", "wait: store"),
                            ("pass threads", "publish")):
            self.assertTrue(trace.of(group, name), (group, name))

    def check_batches(self, daemon, trace):
        """Each batch has its rows, each row its record and its steps."""
        rows = trace.of("workers", "row")
        batches = trace.of("slots", "batch")
        whole = [batch for batch in batches if batch["ts"] * 1e3 > trace.about["begin_ns"] and "first_record" in batch["args"]]
        self.assertGreater(len(whole), 10)
        for batch in whole:
            said = batch["args"]
            own = sorted((row for row in rows if row["args"]["batch"] == said["batch"]), key=lambda row: row["args"]["row"])
            self.assertTrue(all(contains(batch, row) for row in own), said)
            records = [row["args"]["record"] for row in own]
            self.assertEqual((len(own), records[0]), (said["rows"], said["first_record"]))
            parts = [part for part in trace.of("slots", "bytes", "rows", "turn") if part["args"]["batch"] == said["batch"]]
            self.assertAlmostEqual(sum(part["dur"] for part in parts), batch["dur"], delta=0.01)
        shown = daemon.command("show", "train", "--epoch", str(said["epoch"]), "--step", str(said["step"]))
        self.assertEqual(json.loads(shown.stdout)["sample_ids"], records)
        steps = [step for step in trace.of("workers", "decode image") if contains(own[0], step)]
        self.assertEqual(len(steps), 1)
        # What takes long of a batch are the bytes: the store is slow.
        self.assertGreater(sum(part["dur"] for part in trace.of("slots", "bytes")), 0.5 * sum(batch["dur"] for batch in whole))

    def check_reads(self, trace):
        reads = trace.of("reads")
        self.assertTrue(all(read["args"]["address"].endswith(self.url.name) and read["args"]["bytes"] > 0 for read in reads))
        self.assertTrue(any(not read["args"]["answered"] for read in reads), "the last one lasts on")
        fetched = [(read["args"]["first_record"], read["args"]["last_record"], end_of(read)) for read in reads
                   if read["args"]["ok"]]
        late = [row for row in trace.of("workers", "row") if row["ts"] * 1e3 > trace.about["begin_ns"] + 1e9]
        self.assertTrue(late)
        for row in late:
            self.assertTrue(any(first <= row["args"]["record"] <= last and end <= row["ts"] for first, last, end in fetched), row)

    def test_a_slow_trainer_is_found_and_nothing_is_to_win(self):
        daemon = self.daemon(records_per_second=2000)
        self.resource(Trainer(daemon, step=0.1))
        found = self.analyze(daemon)
        self.assertEqual(found["now"]["limit"], "trainers")
        self.assertLess(found["measured"]["stall_share"], 0.1)
        self.assertEqual(found["remedies"]["most_to_win"], 0)

    def test_waits_for_a_slow_job_are_charged_to_it_and_steps_add_up_to_the_busy_time_of_the_workers(self):
        daemon = self.daemon(records_per_second=2000, publish="{jobs: [slow, fast]}")
        self.resource(Trainer(daemon, 0.04, "slow"))
        self.resource(Trainer(daemon, 0, "fast"))
        # One row in 64 is timed. Some of them wait for a core, so it takes many to represent all.
        wait_until(lambda: daemon.total("echoline_step_rows_total", step="decode image") > 1000, "a thousand rows")
        wait_until(lambda: self.is_near(self.step_seconds(daemon), daemon.total("echoline_stage_seconds_total", stage="prep", state="busy"),
                                        0.2), "the steps add up to the busy time")
        asleep = daemon.command("analyze", "train", "--for", "1s", "--let-sleep")
        self.assertIn("\nwarning  workers could sleep (--let-sleep)", asleep.stdout)
        waited = {cause: daemon.total("echoline_consumer_wait_seconds_total", consumer="fast/0", cause=cause)
                  for cause in ("fetch", "prep", "publish", "peer")}
        self.assertGreater(waited["peer"], 0.9 * sum(waited.values()), waited)

    def test_a_daemon_that_stops_while_it_is_measured_is_named(self):
        daemon = self.daemon(records_per_second=2000)
        trainer = self.resource(Trainer(daemon, step=0.02))
        with subprocess.Popen([binary("ECHOLINE_CLI"), "analyze", "train", "--for", "1h", "--runtime-dir", str(daemon.runtime_dir)],
                              stderr=subprocess.PIPE, text=True, preexec_fn=end_with_parent) as command:
            wait_until(lambda: daemon.total("echoline_control_connections") > 0, "a connection")
            # Answers come ten times a second.
            begun = len(trainer.waits)
            wait_until(lambda: len(trainer.waits) > begun + 50, "some answers")
            trainer.pause()
            daemon.stop()
            said = command.communicate()[1]
        self.assertEqual(command.returncode, 1)
        self.assertIn("the daemon stopped during the measurement", said)

    def test_wrong_questions_and_streams_without_trainers_are_errors(self):
        daemon = self.daemon(records_per_second=2000)
        wrong = daemon.command("analyze", "train", "--what-if", "speed=2")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("'speed' is unknown; there are: workers", wrong.stderr)
        alone = daemon.command("analyze", "train", "--for", "1h")
        self.assertEqual(alone.returncode, 1)
        self.assertIn("no trainer of stream 'train' is attached", alone.stderr)
        unknown = daemon.command("analyze", "nosuch")
        self.assertEqual(unknown.returncode, 1)
        self.assertIn("no stream 'nosuch'; there are: train", unknown.stderr)
        out = self.folder() / "trace.json"
        for wrong, said in ((["other"], "other"), (["train", "--seconds", "61"], "61 is not between 1 and 60")):
            done = daemon.command("trace", *wrong, "--out", str(out))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)
            self.assertFalse(out.exists(), "no file without a trace")


if __name__ == "__main__":
    main()
