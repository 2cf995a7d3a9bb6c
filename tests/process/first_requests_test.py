#!/usr/bin/env python3
"""What a new pass requests of a store that has not answered yet: what fills its slots, and more at the rate at which the
store delivered in earlier runs."""
import time

from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, wait_until
from support.slow_line import Line, Server

LENGTH, ROWS, BATCH, SLOTS = 20_000, 800, 32, 2  # a row has 40 KB
ROW_BYTES = 2 * LENGTH
SLOTS_BYTES = ROW_BYTES * BATCH * SLOTS
PROBED = 8  # rows, when the stream is opened
USUAL_RATE = 20_000_000  # bytes/s


class FirstRequests(ProcessCase):
    def setUp(self):
        super().setUp()
        folder = self.folder()
        (folder / "tokens.bin").write_bytes(bytes(ROW_BYTES * ROWS))
        self.line = Line()
        # From the pass's first request on, nothing is answered.
        self.server = self.resource(Server(folder, self.line, close_at=PROBED * ROW_BYTES))
        self.addCleanup(self.line.opened.set)

    def daemon(self, earlier_runs):
        steps = [f"read: {{url: '{self.server.url}/tokens.bin', format: tokens, tokens: {{length: {LENGTH}}}, "
                 "checksums: none, read_ahead: 16MiB}",
                 f"decode: {{tokens: {{key: tokens, as: uint16, shape: [{LENGTH}]}}}}", f"batch: {{size: {BATCH}}}",
                 f"publish: {{slots: {SLOTS}}}"]
        daemon = self.unstarted(Daemon(stream_yaml(steps), metrics=True))
        daemon.state_dir.mkdir()
        (daemon.state_dir / "endpoints").write_text(earlier_runs)
        daemon.start()
        wait_until(lambda: not self.line.opened.is_set(), "the first request for the slots")
        return daemon

    def reader(self, daemon):
        reader = daemon.reader("--epochs", 1)
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)
        wait_until(lambda: daemon.total("echoline_consumers") == 1, "the reader's attachment")
        return reader

    def check_ends(self, reader):
        self.line.opened.set()
        out, err = reader.communicate(timeout=PATIENCE)
        self.assertEqual((reader.returncode, len(out.splitlines())), (0, ROWS // BATCH), err)

    def test_more_is_requested_at_the_rate_of_earlier_runs(self):
        daemon = self.daemon(f"64 {self.server.url} {USUAL_RATE}\n")
        begin = time.monotonic()
        reader = self.reader(daemon)
        wait_until(lambda: self.server.requested > 5_000_000, lambda: self.server.requested)
        self.assertGreater(time.monotonic() - begin, 5_000_000 / USUAL_RATE / 2)
        time.sleep(1)
        # In 0.3 s, and a batch more; then the store is late.
        self.assertLess(self.server.requested, 0.3 * USUAL_RATE + SLOTS_BYTES)
        self.check_ends(reader)

    def test_nothing_more_is_requested_of_a_store_that_is_not_known(self):
        daemon = self.daemon("")
        reader = self.reader(daemon)
        time.sleep(1)
        self.assertLess(self.server.requested, 1.5 * SLOTS_BYTES)
        self.check_ends(reader)


if __name__ == "__main__":
    main()
