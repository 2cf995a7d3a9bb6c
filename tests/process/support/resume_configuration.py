"""Random configurations for resume_test.py, and what their epochs contain according to docs/semantics.md."""
import dataclasses
import math
import pathlib
import zlib

from support.daemon_process import stream_yaml

# How records of a kind are decoded, and two steps that draw.
KINDS = {"u8": ("{key: u8, as: uint8, shape: [8, 8, 1]}", "random_crop: {field: content, size: 8, padding: 2}",
                "horizontal_flip: {field: content}"),
         "jpg": ("{key: jpg, as: rgb}", "random_resized_crop: {field: content, size: [24, 24]}",
                 "horizontal_flip: {field: content}"),
         "wav": ("{key: wav, as: audio, rate: 8000, max_seconds: 1}", "audio_noise: {field: content, snr: [0, 20]}",
                 "log_mel: {field: content, n_fft: 256, hop: 128, n_mels: 8, pad: zero}")}
POINTS = ("none", "record", "sample", "augmented", "batch")


def write_order(random, url, records):
    """Lists for two epochs, with some records several times, next to the shards; what `shuffle.order` is for them."""
    order = str(pathlib.Path(url).parent / f"order-{random.randrange(10 ** 9)}-{{epoch}}.txt")
    for epoch in range(2):
        ids = random.choices(range(records), k=records)
        pathlib.Path(order.replace("{epoch}", str(epoch))).write_text("\n".join(map(str, ids)), encoding="utf-8")
    return order


@dataclasses.dataclass
class Configuration:
    """`url` of `records` records, whose kind is u8, jpg or wav; `shuffle` has the settings of this step, if there is one;
    `point` is the echo's."""
    url: str
    kind: str
    records: int
    batch: int
    lanes: int
    shuffle: str
    point: str
    factor: float
    window: int
    last: str
    seed: int

    @classmethod
    def draw(cls, random, data_sets):
        url, kind, records = random.choice(data_sets)
        lanes = random.choice([1, 1, 2, 4])
        batch = lanes * random.choice([2, 3, 4])
        point = random.choice(POINTS)
        factor = random.choice([1.25, 1.5, 2, 2.125, 3])
        # A window that is always large enough (docs/semantics_details.md, "A window that is large enough").
        most = max(2, math.ceil(factor))
        per_lane = batch // lanes + (most + 1 if lanes > 1 else 0)
        window = random.choice([1, 2, 5]) if point == "batch" else 3 * (most - 1) * per_lane * lanes
        shuffle = random.choice(["", "window: 1", "window: 17", "window: 64", "window: all", "order"])
        if shuffle == "order":
            shuffle = f"order: '{write_order(random, url, records)}'"
        return cls(url, kind, records, batch, lanes, shuffle, point, factor, window,
                   random.choice(["drop", "partial", "pad"]), random.randrange(1000))

    def yaml(self, last=None):
        decode, first, last_step = KINDS[self.kind]
        echo = f"echo: {{factor: {self.factor}, window: {self.window}}}"
        steps = [f"read: {{url: '{self.url}', format: webdataset, read_ahead: 256KiB}}",
                 f"shuffle: {{{self.shuffle}}}" if self.shuffle else "",
                 echo if self.point == "record" else "",
                 f"decode: {{content: {decode}, label: {{key: cls, as: int64}}}}",
                 echo if self.point == "sample" else "",
                 first, last_step,
                 echo if self.point == "augmented" else "",
                 f"batch: {{size: {self.batch}, last: {last or self.last}}}",
                 echo if self.point == "batch" else "",
                 "publish: {slots: 8}"]
        return stream_yaml(steps, seed=self.seed, more=f"    lanes: {self.lanes}\n")

    def draw_job(self, random):
        """(global batch size, world size)."""
        sizes = [self.batch] if self.point == "batch" else [self.batch, self.batch, self.batch // 2, self.batch * 2,
                                                            self.batch + 1, 5]
        size = random.choice(sizes)
        return size, random.choice([world for world in (1, 1, 2, 3, 4) if size % world == 0])


class Epoch:
    """The rows of one epoch in order, and the batches of them that a job gets."""

    def __init__(self, batches, configuration):
        self._batches = batches
        self._by_batch = configuration.point == "batch"
        self._drop, self._size = configuration.last == "drop", configuration.batch
        self._rows = [row for batch in batches for row in batch]

    def batches(self, row, size):
        """[(rows, the row of the state after them)] from `row` on."""
        if self._by_batch:
            first = row // self._size
            return [(batch, (first + count) * self._size) for count, batch in enumerate(self._batches[first:], 1)]
        found = []
        while row < len(self._rows) and not (self._drop and row + size > len(self._rows)):
            found.append((self._rows[row:row + size], row + size))
            row += size
        return found


def rows_of(batch):
    """(sample id, use, checksum of each field) of the rows that are not padding."""
    fields = [batch[name] for name in ("content", "label")]
    return [(int(sample), int(use), *(zlib.crc32(field[row].tobytes()) for field in fields))
            for row, (sample, use) in enumerate(zip(batch.sample_ids, batch.uses)) if batch.valid[row]]
