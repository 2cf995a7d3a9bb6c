"""A data set of small records, as tar shards."""
import hashlib
import pathlib
import random

from support.daemon_process import stream_yaml
from support.tars import write_tar

BATCH = 16
SLOTS = 4
DECODE = "decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}, label: {key: cls, as: int64}}"


class Records:
    """Shards of records with a small array, a label and ballast that no step decodes: `ballast` bytes (from, to), and
    `first_ballast` more for the first eight records."""

    def __init__(self, folder, count=2000, shards=4, seed=1, ballast=(4_000, 36_000), first_ballast=0):
        draw = random.Random(seed)
        self.folder, self.count = pathlib.Path(folder), count
        self.paths = []
        for shard in range(shards):
            files = []
            for record in range(shard * count // shards, (shard + 1) * count // shards):
                pixels = hashlib.sha512(f"{seed} {record}".encode()).digest()
                pad = draw.randbytes(draw.randrange(*ballast)) + bytes(first_ballast if record < 8 else 0)
                files += [(f"{record:06d}.u8", pixels), (f"{record:06d}.cls", str(record).encode()),
                          (f"{record:06d}.pad", pad)]
            path = self.folder / f"records-{shard:03d}.tar"
            write_tar(path, files)
            self.paths.append(path)
        self.bytes = sum(path.stat().st_size for path in self.paths)

    @property
    def url(self):
        return f"{self.folder}/records-*.tar"

    def stream(self, cache="", after_decode="", read_ahead="1MiB", more_read="", name="train", address=None):
        """`cache` and `after_decode` are cache steps before and after decoding; `address`: where copies of the shards
        are."""
        return stream_yaml([f"read: {{url: '{address or self.url}', format: webdataset, read_ahead: {read_ahead}{more_read}}}",
                            cache and f"cache: {cache}", "shuffle: {window: 500}", DECODE,
                            after_decode and f"cache: {after_decode}", "random_crop: {field: image, size: 8, padding: 2}",
                            f"batch: {{size: {BATCH}, last: partial}}", f"publish: {{slots: {SLOTS}}}"], name=name)
