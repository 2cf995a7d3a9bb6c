#!/usr/bin/env python3
"""A resume in the middle of an epoch, with windows of 100,000 records and a slow store: the first batch waits for its own
records, and not for the window, which would take minutes to fill."""
import os
import time

from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import require_library, wait_until

WINDOW, RECORDS, RECORD_BYTES = 100_000, 120_000, 1024
BATCH, SLOTS = 32, 4
RATE = 1_000_000  # bytes/s: the window takes 100 s
LATENCY = 0.02
# The ring's records take 0.13 s; the rest is for a busy machine.
FIRST_SECONDS = 3.0

require_library()

import echoline  # noqa: E402


class ResumedWindow(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.path = cls.class_folder() / "data.tokens"
        with open(cls.path, "wb") as out:
            for _ in range(RECORDS * RECORD_BYTES // 1_024_000):
                out.write(os.urandom(1_024_000))

    def daemon(self, throttle=""):
        steps = [f"read: {{url: '{self.path}', format: tokens, tokens: {{length: {RECORD_BYTES // 2}}}{throttle}}}",
                 f"shuffle: {{window: {WINDOW}}}",
                 f"decode: {{tokens: {{key: tokens, as: uint16, shape: [{RECORD_BYTES // 2}]}}}}",
                 f"echo: {{factor: 2, window: {WINDOW}}}", f"batch: {{size: {BATCH}}}", f"publish: {{slots: {SLOTS}}}"]
        return Daemon(stream_yaml(steps), memory="1GiB", metrics=True)

    def test_the_first_batch_waits_only_for_its_own_records(self):
        with self.daemon() as daemon, echoline.Loader("train", runtime_dir=daemon.runtime_dir) as loader:
            loader.skip(len(loader) * 2 // 3)
            state = loader.state_dict()
            expected = [self.rows(loader.next()) for _ in range(3)]
        self.assertGreater(sum(use for _, use, _ in expected[0]), BATCH // 4, "some records have their second use")
        with self.daemon(f", throttle: {{rate: {RATE}B/s, latency: {LATENCY * 1000:.0f}ms}}") as daemon:
            wait_until(lambda: daemon.total("echoline_batches_total") >= SLOTS, "a full ring")
            begin = time.monotonic()
            with echoline.Loader("train", runtime_dir=daemon.runtime_dir, state=state) as loader:
                first = self.rows(loader.next())
                seconds = time.monotonic() - begin
                found = [first] + [self.rows(loader.next()) for _ in range(2)]
        print(f"first batch after {seconds:.2f} s", flush=True)
        self.assertEqual(found, expected)
        self.assertLess(seconds, FIRST_SECONDS)

    @staticmethod
    def rows(batch):
        return [(int(sample), int(use), tokens.tobytes())
                for sample, use, tokens in zip(batch.sample_ids, batch.uses, batch["tokens"])]


if __name__ == "__main__":
    main()
