"""What the tests of caches share: a data set of records of many sizes, daemons over it, their counters."""
import hashlib
import json
import pathlib
import random
import subprocess
import time

import line_photos
from daemon_process import PATIENCE, Daemon, Server, binary, free_port, stream_yaml

BATCH = 16
SLOTS = 4


class Records:
    """Shards of records with a small array, a label and ballast, of 4 to 36 KB where nothing else is said, that nobody
    decodes; the first eight may have more of it."""

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
            line_photos.write_tar(path, files)
            self.paths.append(path)
        # Of the records, without the end of each archive.
        self.bytes = sum(path.stat().st_size for path in self.paths)

    def stream(self, cache, after_decode="", read_ahead="1MiB", more_read="", name="train", address=None):
        """`address`: where copies of the shards are."""
        address = address or f"{self.folder}/records-*.tar"
        steps = [f"read: {{url: '{address}', format: webdataset, read_ahead: {read_ahead}{more_read}}}",
                 f"cache: {cache}" if cache else "",
                 "shuffle: {window: 500}",
                 "decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}, label: {key: cls, as: int64}}",
                 f"cache: {after_decode}" if after_decode else "",
                 "random_crop: {field: image, size: 8, padding: 2}",
                 f"batch: {{size: {BATCH}, last: partial}}", f"publish: {{slots: {SLOTS}}}"]
        return stream_yaml([step for step in steps if step], name=name)


class S3Records:
    """An S3 server that holds copies of the shards."""

    def __init__(self, records):
        self.server = Server("s3_server.py", "--bucket", "photos",
                             *(f"--put={path}=photos/set/{path.name}" for path in records.paths))
        self.address, self.endpoint = "s3://photos/set/records-*.tar", self.server.facts["endpoint"]
        self.writer, self.reader = (
            {"AWS_ACCESS_KEY_ID": self.server.facts[key], "AWS_SECRET_ACCESS_KEY": self.server.facts["secret_key"]}
            for key in ("access_key", "reader_key"))


class CachedDaemon(Daemon):
    """A daemon whose metrics are read."""

    def __init__(self, streams, **more):
        super().__init__(streams, metrics=free_port(), **more)

    def total(self, name, **labels):
        """The sum of a metric's series that have these labels."""
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        return sum(value for text, value in self.metric_lines(name).items() if all(part in text for part in wanted))

    def cache_bytes_reserved(self):
        """As `echoline check` tells."""
        told = subprocess.run([binary("ECHOLINE_CLI"), "check", str(self.config), "--json"], capture_output=True,
                              check=True, text=True)
        return sum(stream["memory_bytes"]["cache"] for stream in json.loads(told.stdout)["streams"].values())

    def store_bytes(self):
        return self.total("echoline_source_bytes_total")

    def hits(self, level):
        return self.total("echoline_cache_requests_total", level=level, outcome="hit")

    def misses(self, level):
        return self.total("echoline_cache_requests_total", level=level, outcome="miss")

    def failures(self, level, reason):
        return self.total("echoline_cache_failures_total", level=level, reason=reason)

    def settled(self, *figures):
        """The figures when nothing moves any more: the read-ahead is full, the ring too."""
        deadline = time.monotonic() + PATIENCE
        before = None
        while time.monotonic() < deadline:
            now = [figure() for figure in figures]
            if now == before:
                return now
            before = now
            time.sleep(0.3)
        raise RuntimeError("the counters never settle")


def rows_of(batches):
    """(sample id, use, checksums) in order, of what `echoline read --ids --row-checksums` printed."""
    rows = []
    for batch in batches:
        count = batch.get("valid_rows", len(batch["sample_ids"]))
        columns = zip(batch["sample_ids"], batch["uses"], *batch["row_checksums"].values(), strict=True)
        rows += [(batch["epoch"], *row) for row in list(columns)[:count]]
    return rows
