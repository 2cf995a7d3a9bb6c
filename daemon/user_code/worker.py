"""The worker process of `python` in a pipeline: calls the user's function, or asks the user's data set, for one sample
after the other.

The daemon (worker.cc) starts it with these descriptors, and keeps the other ends. Messages are packets of a few hundred
bytes; arrays are in shared memory. This file is part of the daemon's program, and needs only numpy.
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
import traceback
import types

SOCKET, INPUT, OUTPUT, PROGRAM, LIFE, SETTINGS = 3, 4, 5, 6, 7, 8
CALL = struct.Struct("=IIQQQIIQ")
ARRAY = struct.Struct("=II6IQ")
REPLY = struct.Struct("=IIQ")
RESULT, RAISED, REFUSED, READY, NOT_LOADED = 1, 2, 3, 4, 5
MESSAGE_BYTES_MAX = 16384
TEXT_BYTES_MAX = 60000
SUMMARY_MAX = 400
ALIGNMENT = 64
DTYPES = {1: "uint8", 2: "int8", 3: "uint16", 4: "int16", 5: "uint32", 6: "int32", 7: "uint64", 8: "int64",
          9: "float16", 10: "float32", 11: "float64", 12: "uint16"}


class WrongResult(Exception):
    """What the function returned is not what the step declares."""


def end_with_daemon():
    """Lets the kernel kill this process when the daemon has ended, whatever the function does."""
    fcntl.fcntl(LIFE, fcntl.F_SETOWN, os.getpid())
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
    exec(compile(source, path, "exec"), module.__dict__)
    function = getattr(module, name, None)
    if not callable(function):
        # A class makes a data set.
        kinds = (types.FunctionType, type) if settings["data_set"] else types.FunctionType
        there = sorted(key for key, value in vars(module).items() if isinstance(value, kinds))
        raise WrongResult(f"there is no function {name} in {path}; there are: {', '.join(there) or 'none'}")
    return function


class Generators:
    """The random generators of a call, set from its key: numpy's Generator, and those of the modules."""

    def __init__(self, numpy, step):
        self._numpy = numpy
        self._step = step
        self._bits = numpy.random.Philox(0)
        self._state = self._bits.state
        self.rng = numpy.random.Generator(self._bits)

    def set(self, seed, sample, epoch, use, drawn):
        state = self._state
        key, counter = state["state"]["key"], state["state"]["counter"]
        key[0], key[1] = seed, self._step
        counter[0], counter[1], counter[2], counter[3] = 0, sample, epoch << 32 | use, 0
        state["buffer_pos"], state["has_uint32"], state["uinteger"] = 4, 0, 0
        self._bits.state = state
        random.seed(drawn)
        self._numpy.random.seed(drawn & 0xffffffff)
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "default_generator"):
            torch.default_generator.manual_seed(drawn)


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
        if array.dtype != self.dtype:
            raise WrongResult(f"field {self.name} is {array.dtype}; `out` says {self.dtype}: return "
                              f"array.astype({str(self.dtype)!r}), or change `as`")
        if not self._fits(array.shape):
            raise WrongResult(f"field {self.name} has the shape {list(array.shape)}; `out` says {self._declared()}")
        return array

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
    """A user's data set, as a function that makes a sample from its number."""

    def __init__(self, make, names, fields):
        self._items = make()
        self._names = names
        self._fields = fields
        kind = type(self._items)
        for method in ("__len__", "__getitem__"):
            if not hasattr(kind, method):
                raise WrongResult(f"the data set is {kind.__name__}, which has no {method}; it needs __len__ and "
                                  "__getitem__, as torch.utils.data.Dataset without `Iterable`")
        self.length = len(self._items)

    def __call__(self, sample, rng):
        item = self._items[int(sample["index"][0])]
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
    """Answers calls: arrays from one shared memory, results to the other."""

    def __init__(self, numpy, function, settings):
        self._numpy = numpy
        size = settings["sample_bytes"]
        self._input = mmap.mmap(INPUT, size, access=mmap.ACCESS_READ)
        self._output = mmap.mmap(OUTPUT, size)
        self._size = size
        self._names = [field["name"] for field in settings["inputs"]]
        self._outputs = [Field(numpy, field) for field in settings["outputs"]]
        self._returned = {field.name for field in self._outputs}
        self._dtypes = {code: numpy.dtype(name) for code, name in DTYPES.items()}
        self._generators = Generators(numpy, settings["step"])
        self.length = 0
        if settings["data_set"]:
            # Again, as in main(): the file may have imported torch.
            self._generators.set(0, 0, 0, 0, 0)
            function = DataSet(function, settings["names"], self._returned)
            self.length = function.length
        self._function = function

    def answer(self, message):
        """The reply to a call."""
        _, _, sequence, seed, sample, epoch, use, drawn = CALL.unpack_from(message)
        try:
            arguments = self._arguments(message)
            self._generators.set(seed, sample, epoch, use, drawn)
            result = self._function(dict(arguments), self._generators.rng)
            places = self._store(result, arguments)
        except WrongResult as error:
            return failure(REFUSED, sequence, error)
        except BaseException as error:  # pylint: disable=broad-exception-caught  (sys.exit, too, is only an error)
            return failure(RAISED, sequence, error)
        return REPLY.pack(RESULT, len(self._outputs), sequence) + places

    def _arguments(self, message):
        arguments, position = {}, CALL.size
        for name in self._names:
            dtype, rank, *rest = ARRAY.unpack_from(message, position)
            # Read-only: the memory is mapped without the right to write.
            arguments[name] = self._numpy.ndarray(tuple(rest[:rank]), self._dtypes[dtype], self._input, rest[6])
            position += ARRAY.size
        return arguments

    def _store(self, result, arguments):
        """Writes what the function returned; where each array is."""
        if not isinstance(result, dict):
            raise WrongResult(f"the function returned {type(result).__name__}; it has to return a dict of the fields in "
                              "`out`")
        if result.keys() != self._returned:
            self._check_names(result, arguments)
        places, end = [], 0
        for field in self._outputs:
            value = result[field.name]
            if field.name in arguments and value is arguments[field.name]:
                places.append(ARRAY.pack(0, 0, 0, 0, 0, 0, 0, 0, 0))
                continue
            array = field.array_of(value)
            if end + array.nbytes > self._size:
                raise WrongResult(f"the results are larger than the step's sample_bytes, {self._size}")
            self._numpy.ndarray(array.shape, field.dtype, self._output, end)[...] = array
            shape = array.shape + (0,) * (6 - array.ndim)
            places.append(ARRAY.pack(field.code, array.ndim, *shape, end))
            end += (array.nbytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        return b"".join(places)

    def _check_names(self, result, arguments):
        missing = [field.name for field in self._outputs if field.name not in result]
        if missing:
            raise WrongResult(f"the result lacks {', '.join(missing)}, which `out` names")
        for name, value in result.items():
            # A function may return its whole sample.
            if name not in self._returned and not (name in arguments and value is arguments[name]):
                raise WrongResult(f"the function returned {name}, which `out` does not name; other fields stay as they "
                                  "are")


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


def main():
    end_with_daemon()
    with open(SETTINGS, encoding="utf-8") as file:
        settings = json.load(file)
    limit_memory(settings["memory_bytes"])
    daemon = socket.socket(fileno=SOCKET)
    for descriptor in (SOCKET, INPUT, OUTPUT, LIFE):
        os.set_inheritable(descriptor, False)
    os.close(PROGRAM)
    try:
        import numpy  # pylint: disable=import-outside-toplevel
        if settings["data_set"]:  # all workers make the same one, also where the file itself draws
            Generators(numpy, settings["step"]).set(0, 0, 0, 0, 0)
        calls = Calls(numpy, load(settings), settings)
    except BaseException as error:  # pylint: disable=broad-exception-caught
        daemon.send(failure(NOT_LOADED, 0, error))
        return
    versions = f"Python {sys.version.split()[0]}, numpy {numpy.__version__}"
    daemon.send(REPLY.pack(READY, 0, calls.length) + b"\0" + versions.encode())
    buffer = bytearray(MESSAGE_BYTES_MAX)
    while daemon.recv_into(buffer):
        daemon.send(calls.answer(buffer))


main()
