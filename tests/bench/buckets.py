"""How much of an epoch's batches is padding: length buckets with a fixed number of rows and with a budget of tokens, batches
of a plain shuffle, and the orders of other libraries, computed here. Counts, not times: each run gives the same.

Lengths are 100,000 of a log-normal distribution, and those of the speeches of tinyshakespeare in bytes.

    python3 tests/bench/buckets.py build/release --speeches tinyshakespeare.txt"""
import argparse
import contextlib
import pathlib
import struct
import sys
import tempfile

import numpy as np

sys.path.append(str(pathlib.Path(__file__).parents[1] / "process"))

from suite import build  # noqa: E402
from support.daemon_process import Daemon, stream_yaml  # noqa: E402

ROWS, MULTIPLE = 64, 8
UP_TO = {"log-normal": [64, 128, 256, 512, 1024, 2048, 4096, 8192], "speeches": [16, 32, 64, 128, 256, 512, 1024, 4096]}


def log_normal(count):
    """Median 403, mean about 820; at most 8192."""
    return np.clip(np.random.default_rng(1).lognormal(6, 1.2, count).astype(np.int64), 1, 8192)


def speeches(path):
    """A speech ends at an empty line."""
    return np.array([len(text.encode()) for text in path.read_text(encoding="utf-8").split("\n\n") if text], np.int64)


def write_documents(prefix, lengths):
    """A Megatron data set with these lengths, of tokens that are 0."""
    places = np.concatenate([[0], np.cumsum(lengths)[:-1]]) * 2
    with open(f"{prefix}.bin", "wb") as tokens:
        tokens.truncate(int(lengths.sum()) * 2)
    with open(f"{prefix}.idx", "wb") as index:
        index.write(b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, 8, len(lengths), len(lengths) + 1))
        index.write(lengths.astype(np.int32).tobytes() + places.tobytes() + np.arange(len(lengths) + 1).tobytes())


def share(batches):
    """Of all elements of batches that are (lengths of the rows, length after padding)."""
    return 100 * (1 - sum(int(rows.sum()) for rows, _ in batches) / sum(len(rows) * int(length) for rows, length in batches))


def echoline_batches(lengths, up_to, budget=None):
    import echoline  # pylint: disable=import-outside-toplevel
    rows = ROWS if budget is None else budget // up_to[0] // MULTIPLE * MULTIPLE
    more = "" if budget is None else f", budget: {budget}, multiple: {MULTIPLE}"
    with tempfile.TemporaryDirectory() as folder:
        write_documents(pathlib.Path(folder) / "corpus", lengths)
        steps = [f"read: {{url: '{folder}/corpus.bin', format: megatron}}", "shuffle: {window: all}",
                 f"decode: {{tokens: {{key: tokens, as: uint16, shape: [{up_to[-1]}], ragged: true}}}}",
                 f"batch: {{size: {rows}, last: partial, buckets: {{up_to: {up_to}, by: tokens{more}}}}}", "publish: {slots: 2}"]
        with Daemon(stream_yaml(steps), memory="8GiB") as daemon:
            with contextlib.closing(echoline.Loader("train", runtime_dir=daemon.runtime_dir)) as loader:
                return [(batch["tokens"].lengths.copy(), batch.bucket_length) for batch in loader]


def to_longest(groups):
    return [(rows, rows.max()) for rows in groups]


def cut(lengths, rows=ROWS):
    return [lengths[at:at + rows] for at in range(0, len(lengths), rows)]


def grouped_by_length(lengths):
    """As Hugging Face's LengthGroupedSampler: shuffled, then sorted within runs of 50 batches."""
    shuffled = np.random.default_rng(2).permutation(lengths)
    return cut(np.concatenate([np.sort(run)[::-1] for run in cut(shuffled, 50 * ROWS)]))


def at_most_tokens(lengths, budget):
    """As fairseq's batch_by_size with --max-tokens: sorted by length, as many rows as have room, in multiples of MULTIPLE."""
    batches, ordered, begin = [], np.sort(lengths), 0
    while begin < len(ordered):
        end = begin + 1
        while end < len(ordered) and (end - begin + 1) * ordered[end] <= budget:
            end += 1
        whole = (end - begin) // MULTIPLE * MULTIPLE
        end = begin + whole if whole and end < len(ordered) else end
        batches.append(ordered[begin:end])
        begin = end
    return batches


def compare(lengths, up_to):
    budget = MULTIPLE * up_to[-1]
    fixed, budgeted = echoline_batches(lengths, up_to), echoline_batches(lengths, up_to, budget)
    steps = round(4 * np.log2(up_to[-1] / up_to[0]))
    fine = [round(up_to[0] * 2 ** (step / 4)) for step in range(steps + 1)]
    shuffled = np.random.default_rng(2).permutation(lengths)
    found = {f"plain shuffle, batches of {ROWS}, to the longest row": to_longest(cut(shuffled)),
             f"plain shuffle, to {up_to[-1]}": [(rows, up_to[-1]) for rows in cut(shuffled)],
             f"{len(up_to)} buckets, batches of {ROWS}, to the bucket's length": fixed,
             f"{len(up_to)} buckets, batches of {ROWS}, to the longest row": to_longest(rows for rows, _ in fixed),
             f"{len(up_to)} buckets, budget of {budget}, to the bucket's length": budgeted,
             f"{len(fine)} buckets, budget of {budget}, to the bucket's length": echoline_batches(lengths, fine, budget),
             f"sorted within runs of 50 batches of {ROWS} (Hugging Face), to the longest row": to_longest(grouped_by_length(lengths)),
             f"sorted, at most {budget} tokens (fairseq), to the longest row": to_longest(at_most_tokens(lengths, budget))}
    for name, batches in found.items():
        assert sum(len(rows) for rows, _ in batches) == len(lengths)
        shapes = len({(len(rows), int(length)) for rows, length in batches})
        print(f"| {name} | {len(batches)} | {shapes} | {share(batches):.1f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path, help="folder of a build with echolined and echoline_python")
    parser.add_argument("--speeches", type=pathlib.Path, help="the file tinyshakespeare.txt")
    options = parser.parse_args()
    build.prepare(options.build.resolve(), ["ECHOLINE_LIBRARY"])
    data = {"log-normal": log_normal(100_000)}
    if options.speeches:
        data["speeches"] = speeches(options.speeches)
    for name, lengths in data.items():
        print(f"\n{len(lengths)} {name} lengths\n\n| batches | number | shapes | padding |\n|---|---|---|---|")
        compare(lengths, UP_TO[name])


if __name__ == "__main__":
    main()
