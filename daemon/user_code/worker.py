"""The worker process of `python` in a pipeline: calls the user's function, or asks the user's data set, for one sample
after the other, or for chunks of samples.

The daemon (worker.cc) starts it with these descriptors, and keeps the other ends. message.h describes the messages, which
are packets of up to some kilobytes; arrays are in shared memory. This file is part of the daemon's program, and needs only
numpy.
"""
import sys

sys.path[:] = [folder for folder in sys.path if folder]  # `python -c` looks for modules in the working folder first

# pylint: disable=wrong-import-position
import collections.abc
import fcntl
import json
import linecache
import math
import mmap
import os
import random
import resource
import select
import signal
import socket
import struct
import threading
import traceback
import types

SOCKET, INPUT, OUTPUT, PROGRAM, LIFE, SETTINGS, MORE_CHANNELS = 3, 4, 5, 6, 7, 8, 9
CALL = struct.Struct("=IIQQII")
KEY = struct.Struct("=QIIQ")
ARRAY = struct.Struct("=II6IQ")
REPLY = struct.Struct("=IIQ")
SAME = bytes(ARRAY.size)  # the function returned its argument
RESULT, RAISED, REFUSED, READY, NOT_LOADED = 1, 2, 3, 4, 5
MESSAGE_BYTES_MAX = 65536
TEXT_BYTES_MAX = 60000
SUMMARY_MAX = 400
LOADED = "ECHOLINE_WORKER_LOADS"  # the process that loads a file, and the file
ALIGNMENT = 64
DTYPES = {1: "uint8", 2: "int8", 3: "uint16", 4: "int16", 5: "uint32", 6: "int32", 7: "uint64", 8: "int64",
          9: "float16", 10: "float32", 11: "float64", 12: "uint16"}


class WrongResult(Exception):
    """What the function returned is not what the step declares."""


def end_with_daemon():
    """Lets the kernel kill this process and those that it starts when the daemon has ended, whatever the function does."""
    fcntl.fcntl(LIFE, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(LIFE, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(LIFE, fcntl.F_SETFL, fcntl.fcntl(LIFE, fcntl.F_GETFL) | os.O_ASYNC)
    # It may have ended before.
    if select.select([LIFE], [], [], 0)[0]:
        os._exit(1)


def limit_memory(size):
    """Limits private memory: address space would count what is only reserved, as libraries do by gigabytes."""
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def load(settings):
    """The user's function. The text comes from the daemon, so that all workers run the same one."""
    path, source, name = settings["file"], settings["source"], settings["function"]
    module = types.ModuleType("echoline_step_" + os.path.splitext(os.path.basename(path))[0])
    module.__file__ = path
    sys.modules[module.__name__] = module
    sys.path.insert(0, os.path.dirname(path))
    # Tracebacks show these lines, also when the file has changed.
    linecache.cache[path] = (len(source), None, source.splitlines(True), path)
    # A loader that the file makes would wait for a stream that waits for this worker: the package refuses it.
    os.environ[LOADED] = f"{os.getpid()} {path}"
    try:
        exec(compile(source, path, "exec"), module.__dict__)
    finally:
        del os.environ[LOADED]
    function = getattr(module, name, None)
    if not callable(function):
        # A class makes a data set.
        kinds = (types.FunctionType, type) if settings["data_set"] else types.FunctionType
        there = sorted(key for key, value in vars(module).items() if isinstance(value, kinds))
        raise WrongResult(f"there is no function {name} in {path}; there are: {', '.join(there) or 'none'}")
    return function


class Draws:
    """numpy's Generator of a sample, set from its key."""

    def __init__(self, numpy, step):
        self._step = step
        self._bits = numpy.random.Philox(0)
        self._state = self._bits.state
        self.rng = numpy.random.Generator(self._bits)

    def set(self, seed, sample, epoch, use):
        state = self._state
        key, counter = state["state"]["key"], state["state"]["counter"]
        key[0], key[1] = seed, self._step
        counter[0], counter[1], counter[2], counter[3] = 0, sample, epoch << 32 | use, 0
        state["buffer_pos"], state["has_uint32"], state["uinteger"] = 4, 0, 0
        self._bits.state = state


def seed_modules(numpy, drawn):
    """Seeds the random generators of the modules."""
    random.seed(drawn)
    numpy.random.seed(drawn & 0xffffffff)
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "default_generator"):
        torch.default_generator.manual_seed(drawn)


class ChunkGenerators(collections.abc.Sequence):
    """A Generator for each sample of a chunk, set when it is asked for first: setting one takes microseconds."""

    def __init__(self, numpy, step):
        self._new = lambda: Draws(numpy, step)
        self._draws = []
        self._keys = []

    def set(self, seed, message, samples):
        self._keys = [(seed, *KEY.unpack_from(message, CALL.size + at * KEY.size)[:3]) for at in range(samples)]
        while len(self._draws) < samples:
            self._draws.append(self._new())

    def __len__(self):
        return len(self._keys)

    def __getitem__(self, at):
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        if self._keys[at] is not None:
            self._draws[at].set(*self._keys[at])
            self._keys[at] = None
        return self._draws[at].rng


class Field:
    """A declared output."""

    def __init__(self, numpy, settings):
        self.name = settings["name"]
        self.code = settings["dtype"]
        self.dtype = numpy.dtype(DTYPES[self.code])
        self.shape = tuple(settings["shape"])
        self.form = settings["form"]
        self._numpy = numpy

    def array_of(self, value):
        """The value as an array of this type and shape."""
        numpy = self._numpy
        if isinstance(value, (bytes, bytearray)):
            array = numpy.frombuffer(value, numpy.uint8)
        elif isinstance(value, str):
            array = numpy.frombuffer(value.encode(), numpy.uint8)
        elif isinstance(value, (bool, int, float)):
            array = self._number(value)
        elif value is None:
            raise WrongResult(f"field {self.name} is None; `out` says {self.dtype}")
        else:
            array = numpy.asarray(value)
        self._check(array.dtype, array.shape)
        return array

    def column_of(self, value, samples):
        """The values of a chunk of samples: one array of all of them, or a list of arrays."""
        is_list = isinstance(value, (list, tuple))
        column = value if is_list else self._numpy.asarray(value)
        if not is_list and column.ndim == 0:
            raise WrongResult(f"field {self.name} is {type(value).__name__}; a function with `batched` returns an array or "
                              "a list with a value for each sample")
        if len(column) != samples:
            raise WrongResult(f"field {self.name} has {len(column)} values for {samples} samples")
        if is_list or self.form != "fixed":
            return [self.array_of(one) for one in column]
        self._check(column.dtype, column.shape[1:])
        return column

    def _check(self, dtype, shape):
        if dtype != self.dtype:
            raise WrongResult(f"field {self.name} is {dtype}; `out` says {self.dtype}: return "
                              f"array.astype({str(self.dtype)!r}), or change `as`")
        if not self._fits(shape):
            raise WrongResult(f"field {self.name} has the shape {list(shape)}; `out` says {self._declared()}")

    def _number(self, value):
        """A number of Python. Versions of numpy differ in what they do with one that the type can't hold."""
        if self.dtype.kind in "iu":
            limits = self._numpy.iinfo(self.dtype)
            if not math.isfinite(value) or value != int(value) or not limits.min <= value <= limits.max:
                raise WrongResult(f"field {self.name} is {value}, which {self.dtype} can't hold")
        return self._numpy.asarray(value, self.dtype)

    def _fits(self, shape):
        if self.form == "fixed":
            return shape == self.shape
        if self.form == "ragged":
            return len(shape) == len(self.shape) and shape[0] <= self.shape[0] and shape[1:] == self.shape[1:]
        if self.form == "rank":
            return len(shape) == len(self.shape)
        return len(shape) == 3 and shape[2] == self.shape[2] and 0 not in shape

    def _declared(self):
        if self.form == "fixed":
            return list(self.shape)
        if self.form == "ragged":
            return f"up to {self.shape[0]} rows of {list(self.shape[1:])}" if self.shape[1:] else \
                f"[n] with n up to {self.shape[0]}"
        if self.form == "rank":
            return f"an array of {len(self.shape)} axes"
        return f"[height, width, {self.shape[2]}]"


class DataSet:
    """A user's data set, as a function that makes a sample from its number, or a chunk of samples from several."""

    def __init__(self, make, names, fields, batched):
        self._items = make()
        self._names = names
        self._fields = fields
        kind = type(self._items)
        for method in ("__len__", "__getitem__"):
            if not hasattr(kind, method):
                raise WrongResult(f"the data set is {kind.__name__}, which has no {method}; it needs __len__ and "
                                  "__getitem__, as torch.utils.data.Dataset without `Iterable`")
        self.length = len(self._items)
        if batched and not getattr(self._items, "__getitems__", None):
            raise WrongResult(f"the data set is {kind.__name__}, which has no __getitems__; `batched` needs it")

    def __call__(self, sample, rng):
        return self._fields_of(self._items[int(sample["index"][0])])

    def chunk(self, samples, rngs):
        """The samples of several numbers, with one call of the data set."""
        items = self._items.__getitems__([int(index) for index in samples["index"][:, 0]])
        if isinstance(items, collections.abc.Mapping) or not hasattr(type(items), "__len__"):
            raise WrongResult(f"__getitems__ returned {type(items).__name__}; it has to return a list of samples")
        if len(items) != len(rngs):
            raise WrongResult(f"__getitems__ returned {len(items)} samples for {len(rngs)} numbers")
        found = [self._fields_of(item) for item in items]
        return {name: [fields[name] for fields in found] for name in self._fields if all(name in fields for fields in found)}

    def _fields_of(self, item):
        if not isinstance(item, collections.abc.Mapping):
            item = self._named(item)
        # A data set may return more than is wanted.
        return {name: item[name] for name in self._fields if name in item}

    def _named(self, item):
        names = self._names or getattr(item, "_fields", None)
        if not names:
            raise WrongResult(f"the sample is {type(item).__name__} and no dict; `names` has to name the elements of a "
                              "tuple, in their order")
        values = item if isinstance(item, (tuple, list)) else (item,)
        if len(values) != len(names):
            raise WrongResult(f"the sample has {len(values)} elements, and `names` has {len(names)} names")
        return dict(zip(names, values))


class Calls:
    """Answers the calls of one channel: arrays from one shared memory, results to the other."""

    def __init__(self, numpy, function, settings, channel):
        self._numpy = numpy
        size = settings["sample_bytes"]
        self._socket = socket.socket(fileno=channel[0])
        self._input = mmap.mmap(channel[1], size, access=mmap.ACCESS_READ)
        self._output = mmap.mmap(channel[2], size)
        self._size = size
        self._end = 0  # of the results in their memory
        self._names = [field["name"] for field in settings["inputs"]]
        self._stacked = [field["form"] == "fixed" for field in settings["inputs"]]
        self._outputs = [Field(numpy, field) for field in settings["outputs"]]
        self._returned = {field.name for field in self._outputs}
        self._dtypes = {code: numpy.dtype(name) for code, name in DTYPES.items()}
        self._draws = Draws(numpy, settings["step"])
        self._chunk_generators = ChunkGenerators(numpy, settings["step"])
        # Threads share the modules' generators.
        self._seeds_modules = not settings["threads"]
        self._function, self._make_results = function, self._samples
        if settings["batched"]:
            self._function = function.chunk if settings["data_set"] else function
            self._make_results = self._chunk

    def answer_all(self):
        """Until the daemon closes the connection."""
        buffer = bytearray(MESSAGE_BYTES_MAX)
        while self._socket.recv_into(buffer):
            self._socket.send(self.answer(buffer))

    def answer(self, message):
        """The reply to a call."""
        _, samples, sequence, seed, _, _ = CALL.unpack_from(message)
        self._end = 0
        try:
            places = self._make_results(message, samples, seed)
        except WrongResult as error:
            return failure(REFUSED, sequence, error)
        except BaseException as error:  # pylint: disable=broad-exception-caught  (sys.exit, too, is only an error)
            return failure(RAISED, sequence, error)
        return REPLY.pack(RESULT, len(places), sequence) + b"".join(places)

    def _samples(self, message, samples, seed):
        """Calls the function for one sample after the other, up to one for which it fails."""
        places = []
        for at in range(samples):
            try:
                arguments = {name: self._array(message, samples, at, index) for index, name in enumerate(self._names)}
                *key, drawn = KEY.unpack_from(message, CALL.size + at * KEY.size)
                self._draws.set(seed, *key)
                if self._seeds_modules:
                    seed_modules(self._numpy, drawn)
                result = self._checked(self._function(dict(arguments), self._draws.rng), arguments)
                for field in self._outputs:
                    value = result[field.name]
                    same = field.name in arguments and value is arguments[field.name]
                    places.append(SAME if same else self._store(field, field.array_of(value)))
            except BaseException:  # pylint: disable=broad-exception-caught
                # The daemon calls the function again for this sample, and takes what comes of that.
                if at == 0:
                    raise
                return places[:at * len(self._outputs)]
        return places

    def _chunk(self, message, samples, seed):
        """Calls the function once for all samples."""
        columns = {name: self._column(message, samples, index) for index, name in enumerate(self._names)}
        # The function may change the lists that it gets.
        arguments = {name: list(column) if isinstance(column, list) else column for name, column in columns.items()}
        self._chunk_generators.set(seed, message, samples)
        result = self._checked(self._function(dict(arguments), self._chunk_generators), arguments)
        places = []
        for field in self._outputs:
            value = result[field.name]
            same = field.name in arguments and value is arguments[field.name] and is_same(value, columns[field.name])
            places.append([SAME] * samples if same else self._store_column(field, field.column_of(value, samples)))
        return [place for row in zip(*places) for place in row]

    def _array(self, message, samples, at, index):
        """An argument of one sample. Read-only: the memory is mapped without the right to write."""
        position = CALL.size + samples * KEY.size + (at * len(self._names) + index) * ARRAY.size
        dtype, rank, *rest = ARRAY.unpack_from(message, position)
        return self._numpy.ndarray(tuple(rest[:rank]), self._dtypes[dtype], self._input, rest[6])

    def _column(self, message, samples, index):
        """An argument of all samples: one array if all have one shape by their type, else a list."""
        first = self._array(message, samples, 0, index)
        if self._stacked[index]:
            offset = ARRAY.unpack_from(message, CALL.size + samples * KEY.size + index * ARRAY.size)[8]
            return self._numpy.ndarray((samples, *first.shape), first.dtype, self._input, offset)
        return [first, *(self._array(message, samples, at, index) for at in range(1, samples))]

    def _checked(self, result, arguments):
        if not isinstance(result, dict):
            raise WrongResult(f"the function returned {type(result).__name__}; it has to return a dict of the fields in "
                              "`out`")
        if result.keys() != self._returned:
            self._check_names(result, arguments)
        return result

    def _store(self, field, array):
        """Writes a result; where it is."""
        begin = self._take(array.nbytes)
        self._numpy.ndarray(array.shape, field.dtype, self._output, begin)[...] = array
        return ARRAY.pack(field.code, array.ndim, *array.shape, *(0,) * (6 - array.ndim), begin)

    def _store_column(self, field, column):
        if isinstance(column, list):
            return [self._store(field, array) for array in column]
        begin = self._take(column.nbytes)
        self._numpy.ndarray(column.shape, field.dtype, self._output, begin)[...] = column
        each = column.nbytes // len(column)
        shape = (*column.shape[1:], *(0,) * (7 - column.ndim))
        return [ARRAY.pack(field.code, column.ndim - 1, *shape, begin + at * each) for at in range(len(column))]

    def _take(self, size):
        """Room for so many bytes of results."""
        begin = self._end
        if begin + size > self._size:
            raise WrongResult(f"the results are larger than the step's sample_bytes, {self._size}")
        self._end = begin + (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        return begin

    def _check_names(self, result, arguments):
        missing = [field.name for field in self._outputs if field.name not in result]
        if missing:
            raise WrongResult(f"the result lacks {', '.join(missing)}, which `out` names")
        for name, value in result.items():
            # A function may return its whole sample.
            if name not in self._returned and not (name in arguments and value is arguments[name]):
                raise WrongResult(f"the function returned {name}, which `out` does not name; other fields stay as they "
                                  "are")


def is_same(column, before):
    """Whether a column is unchanged. Its arrays cannot change."""
    if not isinstance(column, list):
        return True
    return len(column) == len(before) and all(one is other for one, other in zip(column, before))


def own_frames(error):
    """The traceback without the frames of this file."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == "echoline worker":
        frames = frames.tb_next
    return frames


def failure(kind, sequence, error):
    """The reply that describes an exception: what it is grouped by, one line, and the traceback."""
    name = type(error).__name__
    try:
        text = " ".join(str(error).split())[:SUMMARY_MAX]
    except Exception:  # pylint: disable=broad-exception-caught
        text = "(its text can't be made)"
    if isinstance(error, WrongResult):
        group, summary, details = text, text, ""
    else:
        frames = own_frames(error)
        details = "".join(traceback.format_exception(type(error), error, frames)).rstrip()
        last = traceback.extract_tb(frames)[-1:]
        # An error of the syntax has its place in its text.
        place = f"({os.path.basename(last[0].filename)}, line {last[0].lineno})" if last else ""
        group, summary = f"{name} {place}", f"{name}: {text} {place}".rstrip()
    parts = [part.encode("utf-8", "replace").replace(b"\0", b" ") for part in (group, summary, details)]
    return REPLY.pack(kind, 0, sequence) + b"\0".join(parts)[:TEXT_BYTES_MAX]


def user_function(numpy, settings):
    """The function, or the data set that the function makes."""
    if not settings["data_set"]:
        return load(settings)
    # All workers make the same one, also where the file itself draws. Again, because it may have imported torch.
    seed_modules(numpy, 0)
    make = load(settings)
    seed_modules(numpy, 0)
    return DataSet(make, settings["names"], [field["name"] for field in settings["outputs"]], settings["batched"])


def channels_of(settings):
    """The descriptors of each channel: socket, input, output."""
    more = range(MORE_CHANNELS, MORE_CHANNELS + 3 * (settings["channels"] - 1), 3)
    return [(SOCKET, INPUT, OUTPUT), *((first, first + 1, first + 2) for first in more)]


def main():
    end_with_daemon()
    with open(SETTINGS, encoding="utf-8") as file:
        settings = json.load(file)
    limit_memory(settings["memory_bytes"])
    channels = channels_of(settings)
    for descriptor in (LIFE, *(descriptor for channel in channels for descriptor in channel)):
        os.set_inheritable(descriptor, False)
    os.close(PROGRAM)
    daemon = socket.socket(fileno=os.dup(SOCKET))
    try:
        import numpy  # pylint: disable=import-outside-toplevel
        function = user_function(numpy, settings)
        # An import of a module that needs the GIL has turned it on.
        if getattr(sys, "_is_gil_enabled", lambda: True)():
            del channels[1:]
        first, *others = [Calls(numpy, function, settings, channel) for channel in channels]
    except BaseException as error:  # pylint: disable=broad-exception-caught
        daemon.send(failure(NOT_LOADED, 0, error))
        return
    versions = f"Python {sys.version.split()[0]}, numpy {numpy.__version__}"
    length = function.length if settings["data_set"] else 0
    daemon.send(REPLY.pack(READY, len(channels), length) + b"\0" + versions.encode())
    daemon.close()
    for calls in others:
        threading.Thread(target=calls.answer_all, daemon=True).start()
    first.answer_all()


main()
