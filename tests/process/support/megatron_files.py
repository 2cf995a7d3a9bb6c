"""Pairs of .bin and .idx files as Megatron-LM's IndexedDatasetBuilder writes them, and rows packed in plain Python."""
import bisect
import itertools
import struct

import numpy as np

_CODES = {"uint8": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint16": 8}


def write_pair(prefix, documents, dtype="uint16"):
    """`documents` are lists of tokens, each one sequence."""
    lengths = np.array([len(document) for document in documents], np.int32)
    places = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    with open(f"{prefix}.bin", "wb") as tokens:
        for document in documents:
            tokens.write(np.array(document, dtype).tobytes())
    with open(f"{prefix}.idx", "wb") as index:
        index.write(b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, _CODES[dtype], len(documents), len(documents) + 1))
        index.write(lengths.tobytes() + (places[:-1] * np.dtype(dtype).itemsize).tobytes())
        index.write(np.arange(len(documents) + 1, dtype=np.int64).tobytes())


def pieces_of(document, length):
    return [document[at:at + length] for at in range(0, len(document), length)]


def cut_rows(documents, length):
    """Rows as lists of pieces: all tokens follow each other."""
    marked = [(number, token) for number, document in enumerate(documents) for token in document]
    return [[[token for _, token in piece] for _, piece in itertools.groupby(marked[at:at + length], lambda pair: pair[0])]
            for at in range(0, len(marked), length)]


def best_fit_rows(documents, length):
    """Rows as lists of pieces: the longest first, each into the fullest row with room for it."""
    pieces = [piece for document in documents for piece in pieces_of(document, length)]
    rows, with_room = [], {}  # the numbers of a row's pieces; rows by their room
    rooms = []  # sorted keys of with_room
    for number in sorted(range(len(pieces)), key=lambda number: -len(pieces[number])):
        place = bisect.bisect_left(rooms, len(pieces[number]))
        if place == len(rooms):
            room, row = length, []
            rows.append(row)
        else:
            room = rooms[place]
            row = with_room[room].pop()
            if not with_room[room]:
                del with_room[room], rooms[place]
        row.append(number)
        room -= len(pieces[number])
        if room:
            if room not in with_room:
                bisect.insort(rooms, room)
            with_room.setdefault(room, []).append(row)
    return [[pieces[number] for number in row] for row in sorted(sorted(row) for row in rows)]


def fields_of(pieces, length, padding):
    """The arrays of a row."""
    sizes = [len(piece) for piece in pieces]
    rest = length - sum(sizes)
    labels = [label for piece in pieces for label in [*piece[1:], -100]] + rest * [-100]
    return {"tokens": np.array([token for piece in pieces for token in piece] + rest * [padding], np.int32),
            "labels": np.array(labels, np.int64),
            "positions": np.array([place for size in sizes for place in range(size)] + rest * [0], np.int32),
            "segments": np.array([number for number, size in enumerate(sizes, 1) for _ in range(size)] + rest * [0],
                                 np.int32),
            "loss_mask": np.array([label != -100 for label in labels], np.uint8)}
