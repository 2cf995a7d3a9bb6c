#!/usr/bin/env python3
"""Tokenizes text once, into Megatron's .bin and .idx, which Echoline packs into rows (docs/language.md).

    tokenize_text.py tokenizer.json corpus.jsonl corpus      writes corpus.bin and corpus.idx

A line of the text is a JSON object with the document in its member "text" (--key), or the document itself (--lines).
Needs numpy and Hugging Face's `tokenizers`."""
import argparse
import itertools
import json
import os
import struct

import numpy as np
from tokenizers import Tokenizer

LINES = 1000  # for a call of the tokenizer
CODES = {"int32": 4, "uint16": 8}  # of Megatron's index


def documents_of(path, key):
    """The texts of a file; `key` is None where a line is the text itself."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.strip():
                continue
            try:
                yield line.rstrip("\n") if key is None else json.loads(line)[key]
            except (json.JSONDecodeError, KeyError, TypeError):
                raise SystemExit(f"{path}: no JSON object with a member {key!r}: {line[:60]!r}; --lines takes plain text, "
                                 "--key names another member") from None


def write_tokens(out, tokenizer, documents, dtype, end):
    """Writes the tokens of all documents, each followed by those in `end`; their lengths."""
    lengths = []
    while texts := list(itertools.islice(documents, LINES)):
        for encoded in tokenizer.encode_batch_fast(texts):
            tokens = np.array(encoded.ids + end, dtype)
            lengths.append(len(tokens))
            out.write(tokens)
    return np.array(lengths, np.int32)


def write_index(out, lengths, dtype):
    begins = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    out.write(b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, CODES[dtype], len(lengths), len(lengths) + 1))
    out.write(lengths.tobytes() + (begins[:-1] * np.dtype(dtype).itemsize).tobytes())
    out.write(np.arange(len(lengths) + 1, dtype=np.int64).tobytes())


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizer", help="tokenizer.json")
    parser.add_argument("text", help="JSON lines, or with --lines any text")
    parser.add_argument("prefix", help="of the two files")
    parser.add_argument("--key", default="text", help="the member of a JSON object that is tokenized; default: text")
    parser.add_argument("--lines", action="store_true", help="a line is a document")
    parser.add_argument("--end", metavar="TOKEN", help="the token behind each document, such as <|endoftext|>")
    return parser.parse_args()


def main():
    options = parsed()
    tokenizer = Tokenizer.from_file(options.tokenizer)
    end = [] if options.end is None else [tokenizer.token_to_id(options.end)]
    if None in end:
        raise SystemExit(f"{options.tokenizer} has no token {options.end}")
    dtype = "uint16" if tokenizer.get_vocab_size() < 65500 else "int32"
    documents = documents_of(options.text, None if options.lines else options.key)
    with open(options.prefix + ".bin.part", "wb") as out:
        lengths = write_tokens(out, tokenizer, documents, dtype, end)
    with open(options.prefix + ".idx.part", "wb") as out:
        write_index(out, lengths, dtype)
    # Both as a whole, the index last: without it, the tokens are no data set.
    for end_of_name in (".bin", ".idx"):
        os.replace(options.prefix + end_of_name + ".part", options.prefix + end_of_name)
    print(f"{len(lengths)} documents, {lengths.sum(dtype=np.int64)} tokens of type {dtype}")


if __name__ == "__main__":
    main()
