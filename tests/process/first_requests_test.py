#!/usr/bin/env python3
"""What a new pass requests of a store that has not answered yet: what fills its slots, and more at the rate at which the
store delivered in earlier runs."""
import time

from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, wait_until
from support.slow_line import Line, Server

LENGTH, ROWS, BATCH, SLOTS = 20_000, 800, 8, 2  # a row has 40 KB
SLOT_BYTES = 2 * LENGTH * BATCH
USUAL_RATE = 20_000_000  # bytes/s


class FirstRequests(ProcessCase):
    def setUp(self):
        super().setUp()
        folder = self.folder()
        (folder / "tokens.bin").write_bytes(bytes(2 * LENGTH * ROWS))
        self.line = Line()
        self.server = Server(folder, self.line)
        self.addCleanup(self.server.stop)
        self.addCleanup(self.line.opened.set)

    def daemon(self, earlier_runs):
        steps = [f"read: {{url: '{self.server.url}/tokens.bin', format: tokens, tokens: {{length: {LENGTH}}}, "
                 "checksums: none, read_ahead: 16MiB}",
                 f"decode: {{tokens: {{key: tokens, as: uint16, shape: [{LENGTH}]}}}}", f"batch: {{size: {BATCH}}}",
                 f"publish: {{slots: {SLOTS}}}"]
        daemon = self.unstarted(Daemon(stream_yaml(steps)))
        daemon.state_dir.mkdir()
        (daemon.state_dir / "endpoints").write_text(earlier_runs)
        return daemon.start()

    def requested(self, daemon, check):
        """Calls `check` with a function that returns the bytes requested by a reader which the store keeps waiting."""
        self.line.opened.clear()
        before = self.server.requested
        reader = daemon.reader("--epochs", 1)
        check(lambda: self.server.requested - before)
        self.line.opened.set()
        out, err = reader.communicate(timeout=PATIENCE)
        self.assertEqual((reader.returncode, len(out.splitlines())), (0, ROWS // BATCH), err)

    def test_more_is_requested_at_the_rate_of_earlier_runs(self):
        def check(requested):
            wait_until(lambda: requested() > SLOTS * SLOT_BYTES / 2, requested)
            begin, first = time.monotonic(), requested()
            wait_until(lambda: requested() > 8_000_000, requested)
            self.assertGreater(time.monotonic() - begin, (8_000_000 - first) / USUAL_RATE / 2)
        self.requested(self.daemon(f"64 {self.server.url} {USUAL_RATE}\n"), check)

    def test_nothing_more_is_requested_of_a_store_that_is_not_known(self):
        def check(requested):
            time.sleep(1)
            self.assertLess(requested(), (SLOTS + 1) * SLOT_BYTES)
        self.requested(self.daemon(""), check)


if __name__ == "__main__":
    main()
