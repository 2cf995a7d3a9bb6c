#!/usr/bin/env python3
"""Pictures are decoded only where the crop is, except where a cache or an echo window keeps the decoded sample: every form
gives the same pixels."""
from support import photos
from support.batches import rows_of
from support.cached_daemon import CachedDaemon
from support.daemon_process import stream_yaml
from support.process_case import ProcessCase, main


class Crops(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.urls = ", ".join(f"'{path}'" for path in photos.made_shards(cls.class_folder()))

    def rows(self, *steps, hits=False):
        """The rows of two epochs; the steps between `shuffle` and the crop."""
        stream = stream_yaml([f"read: {{url: [{self.urls}]}}", "shuffle: {window: 30}", *steps,
                              "random_resized_crop: {field: image, size: 48}", "horizontal_flip: {field: image}",
                              "batch: {size: 6}"])
        with CachedDaemon(stream) as daemon:
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


if __name__ == "__main__":
    main()
