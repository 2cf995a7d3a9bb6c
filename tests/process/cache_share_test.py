#!/usr/bin/env python3
"""A cache of 35 % or 65 % of the data serves exactly that share of every epoch after the first. The daemon reads the rest
from the store and nothing more: it does not read the bytes between two wanted records again."""
from support.cached_daemon import CachedDaemon
from support.process_case import ProcessCase, main
from support.programs import require_library
from support.records import Records

require_library()
import echoline  # noqa: E402

EPOCHS = 4


class CacheShare(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.records = Records(cls.class_folder(), count=4000)

    def epochs(self, cache, level):
        """(hits, misses, bytes from the store) of each epoch, counted when daemon and trainer are idle: the read-ahead
        then belongs to the next epoch, and is equally large each time."""
        with CachedDaemon(self.records.stream(cache, read_ahead="256KiB")) as daemon:
            def counters():
                return daemon.settled(lambda: daemon.hits(level), lambda: daemon.misses(level), daemon.store_bytes)

            with echoline.Loader("train", runtime_dir=str(daemon.runtime_dir)) as loader:
                sums = [counters()]
                for _ in range(EPOCHS):
                    for _ in loader:
                        pass
                    sums.append(counters())
        return [[now - before for now, before in zip(*pair)] for pair in zip(sums[1:], sums)]

    def cache(self, level, share):
        size = int(share * self.records.bytes)
        return f"memory: {size}" if level == "memory" else f"disk: {{path: {self.folder()}/cache, size: {size}}}"

    def test_one_level_serves_exactly_its_share(self):
        for level in ("memory", "disk"):
            for share in (0.35, 0.65):
                with self.subTest(level, share=share):
                    found = self.epochs(f"{{{self.cache(level, share)}}}", level)
                    for epoch, (hits, misses, read) in enumerate(found[1:], 1):
                        print(f"{level} {share}: epoch {epoch}: hit share {hits / (hits + misses):.4f}, from the store "
                              f"{read / self.records.bytes:.4f} of the data", flush=True)
                        self.assertAlmostEqual(hits / (hits + misses), share, delta=0.01)
                        self.assertAlmostEqual(read / self.records.bytes, 1 - share, delta=0.03 * (1 - share))

    def test_memory_and_disk_hold_different_records(self):
        cache = f"{{{self.cache('memory', 0.3)}, {self.cache('disk', 0.4)}}}"
        for _, _, read in self.epochs(cache, "memory")[1:]:
            self.assertAlmostEqual(read / self.records.bytes, 0.3, delta=0.02)


if __name__ == "__main__":
    main()
