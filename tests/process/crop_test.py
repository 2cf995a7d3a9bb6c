#!/usr/bin/env python3
"""Pictures are decoded only where the crop is, except where a cache or an echo window keeps the decoded sample, and from
the second time on with their seek index: every form gives the same pixels."""
import signal

from support import photos
from support.batches import rows_of
from support.cached_daemon import CachedDaemon
from support.daemon_process import stream_yaml
from support.process_case import ProcessCase, main
from support.programs import wait_until


class Crops(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.urls = ", ".join(f"'{path}'" for path in photos.made_shards(cls.class_folder()))

    def stream(self, *steps):
        """The steps between `shuffle` and the crop."""
        return stream_yaml([f"read: {{url: [{self.urls}]}}", "shuffle: {window: 30}", *steps,
                            "random_resized_crop: {field: image, size: 48}", "horizontal_flip: {field: image}",
                            "batch: {size: 6}"])

    def rows(self, *steps, hits=False):
        """The rows of two epochs."""
        with CachedDaemon(self.stream(*steps)) as daemon:
            rows = rows_of(daemon.read("--epochs", 2, "--row-checksums"))
            if hits:
                self.assertGreater(daemon.hits("memory"), 0)
                self.assertGreater(daemon.misses("memory"), 60)
        return rows

    DECODE = "decode: {image: {key: jpg, as: rgb}}"

    def test_a_cache_that_keeps_some_decoded_samples_changes_no_pixel(self):
        self.assertEqual(self.rows(self.DECODE, "cache: {memory: 2MB}", hits=True), self.rows(self.DECODE))

    def test_record_and_sample_echo_have_the_same_pixels_of_each_use(self):
        echo = "echo: {factor: 2, window: 30}"
        by_record, by_sample = self.rows(echo, self.DECODE), self.rows(self.DECODE, echo)
        self.assertEqual(sorted(by_record), sorted(by_sample))
        self.assertEqual(len(by_record), 2 * 2 * 60)

    def test_several_crops_are_the_same_with_echo_of_records_and_of_samples(self):
        rows = []
        for steps in (["echo: {factor: 2, window: 30}", self.DECODE], [self.DECODE, "echo: {factor: 2, window: 30}"]):
            stream = stream_yaml([f"read: {{url: [{self.urls}]}}", "shuffle: {window: 30}", *steps,
                                  "multi_crop: {field: image, crops: {big: {size: 48, count: 2}, small: {size: 16}}}",
                                  "horizontal_flip: {field: big}", "solarize: {field: big_1}", "batch: {size: 6}"])
            with CachedDaemon(stream) as daemon:
                rows.append(rows_of(daemon.read("--epochs", 1, "--row-checksums")))
        self.assertEqual(len(rows[0]), 2 * 60)
        self.assertEqual(rows[0], rows[1])

    def seek(self, daemon, outcome):
        return daemon.total("echoline_seek_index_requests_total", outcome=outcome)

    def test_later_epochs_and_the_next_start_use_the_seek_indexes_and_get_the_same_pixels(self):
        read = ("--epochs", 3, "--row-checksums")
        daemon = CachedDaemon(self.stream(self.DECODE))
        try:
            daemon.start("--set", "daemon.seek_index=0")
            expected = rows_of(daemon.read(*read))
            self.assertEqual(self.seek(daemon, "hit") + self.seek(daemon, "miss"), 0)
            self.assertFalse((daemon.state_dir / "seek").exists())
            daemon.stop()

            daemon.start()
            self.assertEqual(rows_of(daemon.read(*read)), expected)
            self.assertGreaterEqual(self.seek(daemon, "hit"), 2 * 60)
            # A photo that is prepared for two epochs at a time can miss twice.
            self.assertGreaterEqual(self.seek(daemon, "miss"), 60)
            self.assertLess(self.seek(daemon, "miss"), 2 * 60)
            self.assertGreater(daemon.total("echoline_memory_bytes", use="seek_index"), 60 * 100)
            (index,) = (daemon.state_dir / "seek").iterdir()
            # In memory, each of the entries has an overhead of 80 bytes; the file has a header of 32.
            expected_bytes = 32 + daemon.total("echoline_memory_bytes", use="seek_index") - 60 * 80
            wait_until(lambda: index.stat().st_size == expected_bytes, "all indexes in the file")
            daemon.stop(signal.SIGKILL)

            daemon.start()
            self.assertEqual(rows_of(daemon.read(*read)), expected)
            self.assertEqual(self.seek(daemon, "miss"), 0)
            daemon.stop()

            damaged = bytearray(index.read_bytes())
            damaged[len(damaged) // 2] ^= 4
            index.write_bytes(damaged)
            daemon.start()
            self.assertEqual(rows_of(daemon.read(*read)), expected)
            self.assertGreater(self.seek(daemon, "miss"), 20)
        finally:
            daemon.close()

    def test_a_changed_photo_is_not_decoded_with_the_index_of_the_old_one(self):
        """In place, under the same name, with the same size."""
        folder = self.folder()
        paths = photos.made_shards(folder, shards=1, records=6)
        stream = stream_yaml([f"read: {{url: {paths[0]}}}", self.DECODE, "center_crop: {field: image, size: 48}",
                              "batch: {size: 6}"])
        with CachedDaemon(stream) as daemon:
            daemon.read("--epochs", 2, "--row-checksums")
            daemon.stop()
            content = paths[0].read_bytes()
            begin, swapped = content.index(b"\xff\xda"), bytearray(content)
            swapped[begin + 200] ^= 1
            paths[0].write_bytes(swapped)
            daemon.start("--set", "daemon.seek_index=0")
            expected = rows_of(daemon.read("--epochs", 1, "--row-checksums"))
            daemon.stop()
            daemon.start()
            self.assertEqual(rows_of(daemon.read("--epochs", 1, "--row-checksums")), expected)
            self.assertGreater(self.seek(daemon, "miss"), 0)


if __name__ == "__main__":
    main()
