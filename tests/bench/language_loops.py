#!/usr/bin/env python3
"""The loops of Hugging Face's `datasets` with a DataLoader of torch over text and tokens, for language.py, with the
interpreter of a set that has them and `tokenizers`. Each prints {"tokens": [of each epoch], "cpu_seconds": [the same]}.

    language_loops.py train TEXT TOKENIZER            makes the tokenizer: byte-level BPE with 8,192 tokens
    language_loops.py write TEXT TOKENIZER PARQUET    makes a file of token lists
    language_loops.py streamed TEXT TOKENIZER         tokenizes and packs in each epoch
    language_loops.py once TEXT TOKENIZER             in the first epoch, which `datasets` keeps as Arrow files
    language_loops.py tokens PARQUET                  packs token lists
    language_loops.py padded TEXT TOKENIZER           tokenizes, and pads or cuts each text to a row

The DataLoader works in this process: workers would only add the transfer of batches."""
import itertools
import json
import os
import sys
import tempfile
import time

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1")

ROW, BATCH = 1024, 8  # of packed rows
PADDED, TEXTS = 256, 64  # of padded ones
LATER_EPOCHS = 3


def train(text, out):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    with open(text, encoding="utf-8") as file:
        tokenizer.train_from_iterator((json.loads(line)["text"] for line in file),
                                      trainers.BpeTrainer(vocab_size=8192, show_progress=False))
    tokenizer.save(out)


def write(text, tokenizer, out):
    import pyarrow
    import pyarrow.parquet

    encode = encoder(tokenizer)
    with open(text, encoding="utf-8") as file:
        columns = encode({"text": [json.loads(line)["text"] for line in file]})
    pyarrow.parquet.write_table(pyarrow.table({"input_ids": pyarrow.array(columns["input_ids"],
                                                                         pyarrow.list_(pyarrow.int32()))}), out)


def encoder(path):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(path)
    return lambda rows: {"input_ids": [encoded.ids for encoded in tokenizer.encode_batch_fast(rows["text"])]}


def grouped(rows):
    """As in the examples of Hugging Face's transformers: one list, cut into rows; the rest of a thousand texts is left out."""
    tokens = list(itertools.chain.from_iterable(rows["input_ids"]))
    whole = len(tokens) // ROW * ROW
    cut = [tokens[at:at + ROW] for at in range(0, whole, ROW)]
    return {"input_ids": cut, "labels": cut.copy()}


def padded(encode):
    def rows_of(rows):
        ids = [(tokens + (PADDED - len(tokens)) * [0])[:PADDED] for tokens in encode(rows)["input_ids"]]
        return {"input_ids": ids}
    return rows_of


def loaded(kind, path, **options):
    import datasets

    datasets.disable_progress_bars()
    return datasets.load_dataset(kind, data_files=[path], split="train", **options)


def by_batch(data):
    """As `datasets` advises for data in Arrow files: the rows of a batch are read with one call."""
    from torch.utils.data import BatchSampler, DataLoader, RandomSampler

    return DataLoader(data, sampler=BatchSampler(RandomSampler(data), BATCH, drop_last=True), batch_size=None)


def streamed(data, batch=BATCH):
    """With the tensors made as transformers' default_data_collator does: `with_format("torch")` takes five times as long."""
    import torch
    from torch.utils.data import DataLoader

    def collate(rows):
        return {name: torch.tensor([row[name] for row in rows]) for name in rows[0]}
    return DataLoader(data, batch, drop_last=True, collate_fn=collate)


def measure(make, epochs):
    """Calls `make` for the loader in the first epoch, whose time it belongs to."""
    import torch
    import datasets  # noqa: F401  pylint: disable=unused-import

    torch.set_num_threads(1)
    tokens, seconds, loader = [], [], None
    for _ in range(epochs):
        begin = time.process_time()
        loader = loader or make()
        tokens.append(sum(batch["input_ids"].numel() for batch in loader))
        seconds.append(time.process_time() - begin)
    return {"tokens": tokens, "cpu_seconds": seconds}


def main(way, path, *more):
    if way in ("train", "write"):
        return {"train": train, "write": write}[way](path, *more)
    encode = encoder(more[0]) if more else None
    with tempfile.TemporaryDirectory() as folder:
        ways = {
            "streamed": lambda: streamed(loaded("json", path, streaming=True).map(
                encode, batched=True, remove_columns=["text"]).map(grouped, batched=True)),
            "once": lambda: by_batch(loaded("json", path, cache_dir=folder).map(
                encode, batched=True, remove_columns=["text"]).map(grouped, batched=True).with_format("torch")),
            "tokens": lambda: streamed(loaded("parquet", path, streaming=True).map(grouped, batched=True)),
            "padded": lambda: streamed(loaded("json", path, streaming=True).map(
                padded(encode), batched=True, remove_columns=["text"]), TEXTS)}
        return print(json.dumps(measure(ways[way], 1 + (LATER_EPOCHS if way == "once" else 0))))


if __name__ == "__main__":
    main(*sys.argv[1:])
