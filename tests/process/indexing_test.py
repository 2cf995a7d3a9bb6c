#!/usr/bin/env python3
"""While a daemon indexes its data it says how far it is, also to trainers, which wait; streams that are ready serve; a stop
ends the pass at once, and a killed pass continues. Large records of a distant store are indexed by hops."""
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import tarfile
import time

from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, binary, end_with_parent, wait_until
from support.server_process import Server

SHARDS = 40
SECONDS = 8  # of the whole pass
BYTES = "decode: {x: {key: bin, as: bytes, max_bytes: 200000}}"


def sparse_shards(folder, shards, records, record_bytes):
    """Shards of records of zeros, which need no room on the disk."""
    for shard in range(shards):
        with open(folder / f"{shard:03d}.tar", "wb") as file:
            for record in range(records):
                member = tarfile.TarInfo(f"{shard:03d}-{record:04d}.bin")
                member.size = record_bytes
                file.write(member.tobuf(tarfile.USTAR_FORMAT))
                file.seek(-(-record_bytes // 512) * 512, os.SEEK_CUR)
            file.write(bytes(1024))
    return sum(path.stat().st_size for path in folder.iterdir())


class Indexing(ProcessCase):
    def setUp(self):
        super().setUp()
        paths = photos.made_shards(self.folder(), shards=SHARDS, records=4)
        self.bytes = sum(path.stat().st_size for path in paths)
        throttle = f", throttle: {{rate: {self.bytes // SECONDS >> 10}KiB/s, latency: 1ms}}"
        self.url = paths[0].parent / "*.tar"
        self.slow = stream_yaml(photos.pipeline(self.url, throttle))
        self.use(self.slow)

    def use(self, streams):
        self.daemon = Daemon(streams, metrics=True)
        self.addCleanup(self.daemon.close)

    def status(self):
        """The stream as `list` shows it; empty before the daemon answers."""
        answer = self.daemon.command("list", "--json")
        streams = json.loads(answer.stdout) if answer.returncode == 0 else []
        return next((stream for stream in streams if stream["name"] == "train"), {})

    def await_share(self, share):
        """Waits until this share of the bytes is indexed."""
        def indexed():
            seen = self.status().get("indexing")
            return seen and seen["bytes_done"] >= share * seen["bytes"]
        wait_until(indexed, self.daemon.log)

    def request(self, door_minor):
        """A connection to the attach socket whose request was sent by a client of this version."""
        message = bytearray(1368)
        struct.pack_into("<8sIIII128s128sIIII", message, 0, b"ECHDOOR1", 1, door_minor, 1, 2, b"train", b"default", 0, 1, 0, 1)
        door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        door.connect(str(self.daemon.runtime_dir / "door.sock"))
        door.send(message)
        return door

    def test_progress_is_seen_from_outside_and_a_stop_ends_the_pass(self):
        self.daemon.spawn()
        self.await_share(0.2)
        seen = self.status()
        self.assertEqual(seen["state"], "opening")
        self.assertEqual(seen["indexing"]["shards"], SHARDS)
        self.assertEqual(seen["indexing"]["bytes"], self.bytes)
        self.assertLess(abs(seen["indexing"]["seconds_left"] - SECONDS * 0.8), SECONDS * 0.4)
        self.assertRegex(self.daemon.command("list").stdout, r"train +opening .* indexing: \d+ of 40 shards, .* left")
        self.assertRegex(self.daemon.command("show", "train").stdout, r"train: opening: indexing: \d+ of 40 shards")
        left = self.daemon.total("echoline_index_left_bytes")
        self.assertTrue(0 < left < self.bytes * 0.8, left)
        # A client of an older version would take a message before its answer for a wrong answer.
        older, newer = self.request(door_minor=2), self.request(door_minor=3)
        self.assertIn(b"indexing: ", newer.recv(4096))
        self.assertIn(b"indexing: ", newer.recv(4096))
        self.assertEqual(select.select([older], [], [], 0)[0], [])
        older.close()
        newer.close()
        reader = self.daemon.reader("--batches", 1)
        self.addCleanup(reader.kill)
        wait_until(lambda: "1 trainer waits for it" in self.daemon.command("list").stdout, self.daemon.log)
        begin = time.monotonic()
        self.assertEqual(self.daemon.stop(), 0, self.daemon.log())
        self.assertLess(time.monotonic() - begin, 1)
        # It looks for another daemon for a moment.
        self.assertRegex(reader.communicate(timeout=PATIENCE)[1].decode(), "going down|closed the door|no daemon answers")
        self.assertEqual(reader.returncode, 1)

    def test_a_trainer_waits_and_sees_the_progress_while_another_stream_serves(self):
        quick = stream_yaml(photos.pipeline(photos.made_shards(self.folder(), shards=1)[0]), name="zebra")
        self.use(self.slow + quick)
        self.daemon.spawn()
        self.await_share(0.1)
        terminal, inner = pty.openpty()
        with subprocess.Popen([binary("ECHOLINE_CLI"), "read", "train", "--batches", "2", "--runtime-dir",
                               self.daemon.runtime_dir], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=inner,
                              preexec_fn=end_with_parent) as reader:
            # Its name comes last; it is open all the same.
            self.assertEqual(len(self.daemon.read("--batches", 2, stream="zebra")), 2)
            self.assertEqual(self.status()["state"], "opening")
            self.assertIsNone(self.daemon.notification(0), "ready before all streams are open")
            self.daemon.await_ready()
            self.assertIn(b"2 batches", reader.communicate(timeout=PATIENCE)[0])
            self.assertEqual(reader.returncode, 0)
        os.close(inner)
        self.assertRegex(os.read(terminal, 1 << 16).decode(),
                         r"train: the stream is being opened: indexing: \d+ of 40 shards, .* left")
        os.close(terminal)

    def test_a_trainer_that_waits_gets_the_reason_why_its_stream_cannot_be_opened(self):
        # The last shard is damaged.
        last = sorted(self.url.parent.glob("*.tar"))[-1]
        last.write_bytes(b"x" * last.stat().st_size)
        self.daemon.spawn()
        self.await_share(0.1)
        reader = self.daemon.reader("--batches", 1)
        self.addCleanup(reader.kill)
        said = reader.communicate(timeout=PATIENCE)[1].decode()
        self.assertRegex(said, "stream 'train': .*the archive is damaged or no tar")
        self.assertEqual(self.daemon.process.wait(PATIENCE), 1)
        self.assertRegex(self.daemon.log(), r"echolined: \S+\.yaml:\d+:\d+: stream 'train': ")

    def test_a_store_that_is_silent_is_named_before_it_is_given_up(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}/a.tar"
            self.use(stream_yaml([f"read: {{url: '{url}', format: webdataset, stall: 2s}}", BYTES, "batch: {size: 4}"]))
            self.daemon.spawn()
            failing = re.compile(r"a\.tar: .*; no progress for \d+ s, attempt \d follows, given up after 60 s")
            wait_until(lambda: failing.search(self.daemon.log()), self.daemon.log, 20)

    def test_a_killed_pass_continues(self):
        self.daemon.spawn()
        self.await_share(0.5)
        self.daemon.stop(signal.SIGKILL)
        self.daemon.start()
        taken = re.search(r"an interrupted index pass had scanned (\d+) of 40 shards", self.daemon.log())
        self.assertTrue(taken, self.daemon.log())
        # Up to 16 shards were being read.
        self.assertGreaterEqual(int(taken[1]), SHARDS // 2 - 16)
        read = self.daemon.total("echoline_source_bytes_total")
        self.assertLessEqual(read, (SHARDS - int(taken[1])) * self.bytes / SHARDS * 1.2 + (1 << 20))
        self.assertEqual(self.daemon.total("echoline_stream_records"), 4 * SHARDS)
        self.assertEqual(self.daemon.total("echoline_index_left_bytes"), 0)

    def test_a_killed_scan_of_one_large_shard_continues_within_it(self):
        log = self.folder() / "answers"
        server = Server("web_server.py", "--log", log)
        self.addCleanup(server.stop)
        total = sparse_shards(pathlib.Path(server.facts["root"]), shards=1, records=900, record_bytes=110_000)
        read = f"read: {{url: '{server.facts['endpoint']}/000.tar', throttle: {{rate: 40MiB/s}}}}"
        self.use(stream_yaml([read, BYTES, "batch: {size: 4}"]))

        def sent():
            wait_until(log.exists, "no log of the server")
            return sum(int(line.split()[3]) for line in log.read_text().splitlines())

        self.daemon.spawn()
        self.await_share(0.5)
        self.daemon.stop(signal.SIGKILL)
        before = sent()
        self.daemon.start()
        self.assertRegex(self.daemon.log(), r"000.tar: an interrupted index pass had scanned \d+\.\d of \d+\.\d MB")
        self.assertLess(sent() - before, total * 0.55)
        self.assertEqual(self.daemon.total("echoline_stream_records"), 900)
        state = self.daemon.state_dir
        self.assertEqual([path.name for path in state.rglob("*.scans")], [])
        continued = self.stored_index()
        # In one go.
        self.daemon.stop()
        for path in state.rglob("*.idx"):
            path.unlink()
        self.daemon.start()
        self.assertEqual(self.stored_index(), continued)

    def stored_index(self):
        return [path.read_bytes() for path in sorted(self.daemon.state_dir.rglob("*.idx"))]

    def test_large_records_of_a_distant_store_are_indexed_by_hops(self):
        folder = self.folder()
        total = sparse_shards(folder, shards=60, records=50, record_bytes=110_000)
        read = "read: {url: '%s/*.tar', throttle: {rate: 20MiB/s, latency: 10ms}}" % folder
        self.use(stream_yaml([read, BYTES, "batch: {size: 4}"]))
        self.daemon.start()
        self.assertIn("indexing by hops from header to header from here on", self.daemon.log())
        self.assertLess(self.daemon.total("echoline_source_bytes_total"), total * 0.4)
        self.assertEqual(self.daemon.total("echoline_stream_records"), 3000)
        hopped = self.first_and_last(self.daemon)
        # A host without the index finds the same records.
        self.use(stream_yaml([f"read: {{url: '{folder}/*.tar'}}", BYTES, "batch: {size: 4}"]))
        self.assertEqual(hopped, self.first_and_last(self.daemon.start()))
        self.assertNotIn("by hops", self.daemon.log())

    def first_and_last(self, daemon):
        """The contents of the first batches, and the keys of the last one."""
        keys = daemon.command("show", "train", "--step", 749, "--keys")
        self.assertEqual(keys.returncode, 0, keys.stderr)
        return daemon.read("--batches", 5, "--checksum"), keys.stdout


if __name__ == "__main__":
    main()
