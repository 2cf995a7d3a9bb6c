"""Tokens for each CPU-second: text that is tokenized and packed into rows, tokens that are packed, and text that is tokenized
in the stream and padded, compared with Hugging Face's `datasets` and a DataLoader with the same tokenizer.

CPU is all of the daemon's and of the processes of its steps, in the first epoch with its start, and that of the command that
reads the batches; where text is tokenized once, that of client/examples/tokenize_text.py too. Of `datasets` it is the loop
alone (language_loops.py), without imports."""
import functools
import json
import os
import pathlib
import random
import subprocess
import tempfile

from suite import ROOT, peers
from suite.rounds import PATIENCE, Table, children_cpu_seconds, cpu_seconds, interleave, with_children
from support.daemon_process import Daemon, stream_yaml

from language_loops import BATCH, PADDED, ROW, TEXTS

PROGRAMS = ()
LOOPS = pathlib.Path(__file__).with_name("language_loops.py")
TOKENIZE = ROOT / "client/examples/tokenize_text.py"
LATER_EPOCHS = 20
COPIES = 4  # of each speech, in another order
ONE_THREAD = {"TOKENIZERS_PARALLELISM": "false"}
STEP = """
import numpy as np
from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file({tokenizer!r})


def encode(samples, rngs):
    texts = [bytes(text).decode() for text in samples["text"]]
    return {{"tokens": [np.array(encoded.ids, np.int32) for encoded in tokenizer.encode_batch_fast(texts)]}}
"""


def texts():
    """The speeches of tinyshakespeare, where ECHOLINE_TEST_DATA has them; else made ones."""
    path, draws = pathlib.Path(os.environ.get("ECHOLINE_TEST_DATA", ""), "tinyshakespeare.txt"), random.Random(1)
    if path.exists():
        found = [speech for speech in path.read_text(encoding="utf-8").split("\n\n") if speech.strip()]
    else:
        words = ["".join(draws.choices("etaoinshrdlu", k=draws.randrange(1, 10))) for _ in range(5000)]
        found = [" ".join(draws.choices(words, k=int(draws.paretovariate(1) * 10) % 2000)) or "." for _ in range(2000)]
    return [text for _ in range(COPIES) for text in draws.sample(found, len(found))]


def run(*command):
    done = subprocess.run([peers.python("language"), "-B", *map(str, command)], capture_output=True, check=True,
                          timeout=PATIENCE, env={**os.environ, **ONE_THREAD})
    return done.stdout.splitlines()[-1:]


def write_corpus(folder, quick):
    """The text, its tokenizer, and its tokens as Megatron's files and as Parquet."""
    lines = [json.dumps({"text": text}) for text in texts()[:1000 if quick else None]]
    (folder / "corpus.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run(LOOPS, "train", folder / "corpus.jsonl", folder / "tokenizer.json")
    run(TOKENIZE, folder / "tokenizer.json", folder / "corpus.jsonl", folder / "tokens")
    run(LOOPS, "write", folder / "corpus.jsonl", folder / "tokenizer.json", folder / "tokens.parquet")
    (folder / "encode.py").write_text(STEP.format(tokenizer=str(folder / "tokenizer.json")), encoding="utf-8")


def read(daemon, epochs):
    """(samples, CPU time of the command that reads them)"""
    before = children_cpu_seconds()
    done = daemon.command("read", "train", "--epochs", epochs, "--json")
    return json.loads(done.stdout.splitlines()[-1])["samples"], children_cpu_seconds() - before


def measure_packed(program, place, tokenize_seconds=None):
    """(tokens for each CPU-second in the first epoch of a new daemon, in the epochs after it). `tokenize_seconds` are added to
    those of the first epoch."""
    os.environ["ECHOLINED"] = str(program)
    yaml = stream_yaml([f"read: {{url: '{place}.bin', format: megatron, pack: {{length: {ROW}, method: cut}}}}",
                        "shuffle: {window: all}", f"decode: {{tokens: {{key: tokens, as: int32, shape: [{ROW}]}}, "
                        f"labels: {{key: labels, as: int64, shape: [{ROW}]}}}}", f"batch: {{size: {BATCH}}}",
                        "publish: {slots: 4}"])
    with Daemon(yaml, workers=1, memory="1GiB") as daemon:
        rows, seconds = read(daemon, 1)
        used = cpu_seconds(daemon.process.pid)
        later_rows, later_seconds = read(daemon, LATER_EPOCHS)
        later_seconds += cpu_seconds(daemon.process.pid) - used
        return rows * ROW / (seconds + used + (tokenize_seconds or 0)), later_rows * ROW / later_seconds


def measure_tokenized(program, folder):
    before = children_cpu_seconds()
    run(TOKENIZE, folder / "tokenizer.json", folder / "corpus.jsonl", folder / "again")
    return measure_packed(program, folder / "again", children_cpu_seconds() - before)


def measure_step(program, folder):
    """Texts for each CPU-second that are tokenized in the stream, after the first batch."""
    os.environ["ECHOLINED"] = str(program)
    yaml = stream_yaml([f"read: {{url: '{folder}/corpus.jsonl', format: jsonl}}", "shuffle: {window: all}",
                        "decode: {text: {key: text, as: text, max_bytes: 64KiB}}",
                        f"python: {{file: {folder}/encode.py, function: encode, fields: [text], batched: true, chunk: 64, "
                        f"workers: 1, interpreter: {peers.python('language')}, "
                        "out: {tokens: {as: int32, max_length: 16384}}}",
                        f"pad: {{field: tokens, length: {PADDED}, longer: cut}}", f"batch: {{size: {TEXTS}}}",
                        "publish: {slots: 4}"])
    with Daemon(yaml, workers=1, memory="1GiB") as daemon:
        daemon.command("read", "train", "--batches", 1)
        pids = with_children(daemon.process.pid)
        before = sum(map(cpu_seconds, pids))
        rows, seconds = read(daemon, 1)
        return rows / (sum(map(cpu_seconds, pids)) - before + seconds)


def measure_peer(*arguments):
    """The rates of the epochs."""
    report = json.loads(run(LOOPS, *arguments)[0])
    return [tokens / seconds for tokens, seconds in zip(report["tokens"], report["cpu_seconds"])]


def median_later(rates):
    return sorted(rates[1:])[len(rates) // 2 - 1]


def compare(title, ours, theirs, options):
    """`ours` gives the rates of the first epoch and of later ones; `theirs` is {name: (way, {what of it: its row})}."""
    name = "Echoline"
    ways = {name: ours, **{other: way for other, (way, _) in theirs.items() if options.wants(other)}}
    found = interleave(ways, options.rounds)
    rows = [found.row(name, lambda result: result[0], f"{name}, first epoch"),
            found.row(name, lambda result: result[1], f"{name}, later epochs")]
    for other, (_, picks) in theirs.items():
        if other in ways:
            rows += [found.row(other, pick, label) for label, pick in picks.items()]
    return Table(title, "tokens per CPU-second", rows, (rows[0].name, rows[1].name))


def measure(options):
    program, version = options.daemon, peers.version("language", "datasets")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_corpus(folder, options.quick)
        text, tokenizer = folder / "corpus.jsonl", folder / "tokenizer.json"
        first = lambda rates: rates[0]  # noqa: E731
        stream, once = f"datasets, streaming ({version})", f"datasets, tokenized once ({version})"
        tokenized = compare("Text, tokenized and packed", functools.partial(measure_tokenized, program, folder), {
            stream: (functools.partial(measure_peer, "streamed", text, tokenizer), {stream: first}),
            once: (functools.partial(measure_peer, "once", text, tokenizer),
                   {f"{once}, first epoch": first, f"{once}, later epochs": median_later})}, options)
        packed = compare("Tokens, packed", functools.partial(measure_packed, program, folder / "tokens"), {
            stream: (functools.partial(measure_peer, "tokens", folder / "tokens.parquet"), {stream: first})}, options)
        ways = {"Echoline": functools.partial(measure_step, program, folder)}
        if options.wants(stream):
            ways[stream] = lambda: measure_peer("padded", text, tokenizer)[0] / PADDED
        found = interleave(ways, options.rounds)
        padded = Table(f"Text, tokenized in the stream and padded to {PADDED}", "texts per CPU-second", found.rows(),
                       ("Echoline",))
        return [tokenized, packed, padded]
