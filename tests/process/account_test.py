#!/usr/bin/env python3
"""The account of time closes: stages add up to the wall time of their threads, waits to what the trainer measures itself, steps to
the busy time of the workers. And `echoline analyze` names the limit and predicts what removing it gives."""
import json
import threading
import time

from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import require_library

require_library()

import echoline  # noqa: E402

WORKERS, BATCH, RECORDS = 2, 8, 160
WITHIN = 0.01


class Trainer:
    """A thread that takes batches and works for `step` seconds on each."""

    def __init__(self, daemon, step):
        self.waited, self._step, self._ends = 0.0, step, threading.Event()
        self._loader = echoline.Loader("train", runtime_dir=daemon.runtime_dir)
        self._thread = threading.Thread(target=self._train)
        self._thread.start()

    def _train(self):
        while not self._ends.is_set():
            asked = time.perf_counter()
            batch = self._loader.next()
            self.waited += time.perf_counter() - asked
            del batch
            time.sleep(self._step)

    def pause(self):
        """Ends the loop; the trainer stays attached."""
        self._ends.set()
        self._thread.join()

    def stop(self):
        self.pause()
        self._loader.close()


class Account(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.url = photos.made_shards(cls.class_folder(), shards=1, records=RECORDS)[0]
        cls.record_bytes = cls.url.stat().st_size / RECORDS

    def daemon(self, records_per_second, **options):
        rate = records_per_second * self.record_bytes
        steps = [f"read: {{url: '{self.url}', format: webdataset, read_ahead: {16 * self.record_bytes:.0f}B, "
                 f"throttle: {{rate: {rate:.0f}B/s}}}}", "decode: {image: {key: jpg, as: rgb}}",
                 "random_resized_crop: {field: image, size: [64, 64]}",
                 "normalize: {field: image, mean: [0, 0, 0], std: [1, 1, 1]}", f"batch: {{size: {BATCH}}}"]
        return self.started(Daemon(stream_yaml(steps), workers=WORKERS, metrics=True, **options))

    def stages(self, daemon):
        """({stage: seconds in all states}, the time)."""
        lines = daemon.metric_lines("echoline_stage_seconds_total")
        seen = time.monotonic()
        return {stage: sum(value for labels, value in lines.items() if f'stage="{stage}"' in labels)
                for stage in ("fetch", "prep", "publish")}, seen

    def analyze(self, daemon, *more):
        done = daemon.command("analyze", "train", "--for", "3s", "--json", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_stages_waits_and_steps_add_up_and_the_slow_store_is_found(self):
        daemon = self.daemon(records_per_second=100)
        trainer = self.resource(Trainer(daemon, step=BATCH / 400))
        begin, began = self.stages(daemon)
        found = self.analyze(daemon, "--what-if", "store.rate=x2")
        end, ended = self.stages(daemon)
        trainer.pause()
        time.sleep(0.05)  # until the next tick of the daemon has charged the last wait
        for stage, threads in (("fetch", 1), ("prep", WORKERS), ("publish", 1)):
            wall = (ended - began) * threads
            self.assertLess(abs((end[stage] - begin[stage]) / wall - 1), WITHIN, stage)
        waited = daemon.total("echoline_consumer_wait_seconds_total")
        self.assertLess(abs(waited / trainer.waited - 1), WITHIN, (waited, trainer.waited))
        self.assertGreater(daemon.total("echoline_fetch_wait_seconds_total", place="store"), 0.9 * waited)
        busy = daemon.total("echoline_stage_seconds_total", stage="prep", state="busy")
        steps = daemon.metric_lines("echoline_step_seconds_total")
        self.assertLess(abs(sum(steps.values()) / busy - 1), 0.5, (steps, busy))  # a handful of timed rows
        for step in ("decode image", "random_resized_crop image", "normalize image"):
            self.assertTrue(any(f'step="{step}"' in labels for labels in steps), steps)
        self.assertEqual(found["now"]["limit"], "storage")
        self.assertAlmostEqual(found["measured"]["rows_per_second"] / found["now"]["rows_per_second"], 1, delta=0.15)
        self.assertAlmostEqual(found["what_if"][0]["rows_per_second"] / found["now"]["rows_per_second"], 2, delta=0.01)
        self.assertAlmostEqual(found["measured"]["trainer_rows"] / 400, 1, delta=0.2)

    def test_a_slow_trainer_is_found_and_nothing_is_to_win(self):
        daemon = self.daemon(records_per_second=2000)
        self.resource(Trainer(daemon, step=0.1))
        found = self.analyze(daemon)
        self.assertEqual(found["now"]["limit"], "trainers")
        self.assertLess(found["measured"]["stall_share"], 0.1)
        self.assertEqual(found["remedies"]["most_to_win"], 0)

    def test_wrong_questions_and_streams_without_trainers_are_errors(self):
        daemon = self.daemon(records_per_second=2000)
        wrong = daemon.command("analyze", "train", "--what-if", "speed=2")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("'speed' is unknown; there are: workers", wrong.stderr)
        alone = daemon.command("analyze", "train", "--for", "1s")
        self.assertEqual(alone.returncode, 1)
        self.assertIn("no trainer of stream 'train'", alone.stderr)


if __name__ == "__main__":
    main()
