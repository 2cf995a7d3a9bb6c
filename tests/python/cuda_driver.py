"""Python access to the fake CUDA driver (tests/cuda/fake_driver), in which device memory is host memory."""
import contextlib
import ctypes
import functools
import time
import unittest

import numpy as np

try:
    _driver = ctypes.CDLL("libcuda.so.1")
    _driver.fake_cuda_reset  # pylint: disable=pointless-statement
except (OSError, AttributeError) as error:
    raise unittest.SkipTest(f"needs the stand-in of the CUDA driver before any other: {error}") from error


def check(code, what):
    if code != 0:
        raise AssertionError(f"{what}: CUDA error {code}")


class Device:
    """The primary context of a device, for driver calls of a test."""

    def __init__(self, ordinal=0):
        self._ordinal, self._context = ordinal, ctypes.c_void_p()
        check(_driver.cuInit(0), "cuInit")
        check(_driver.cuDevicePrimaryCtxRetain(ctypes.byref(self._context), ordinal), "cuDevicePrimaryCtxRetain")

    def close(self):
        check(_driver.cuDevicePrimaryCtxRelease_v2(self._ordinal), "cuDevicePrimaryCtxRelease")

    @contextlib.contextmanager
    def _current(self):
        check(_driver.cuCtxPushCurrent_v2(self._context), "cuCtxPushCurrent")
        try:
            yield
        finally:
            check(_driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p())), "cuCtxPopCurrent")

    def stream(self):
        made = ctypes.c_void_p()
        with self._current():
            check(_driver.cuStreamCreate(ctypes.byref(made), 1), "cuStreamCreate")  # 1: not blocking
        return made.value

    def destroy(self, stream):
        with self._current():
            check(_driver.cuStreamDestroy_v2(ctypes.c_void_p(stream)), "cuStreamDestroy")

    def wait(self, stream=0):
        with self._current():
            check(_driver.cuStreamSynchronize(ctypes.c_void_p(stream)), "cuStreamSynchronize")

    def array(self, tensor, stream=0):
        """A copy of a tensor's elements after the stream has finished its queued work; bfloat16 as its bits."""
        self.wait(stream)
        dtype = np.dtype("uint16" if tensor.dtype == "bfloat16" else tensor.dtype)
        count = int(np.prod(tensor.shape, dtype=np.int64))
        return np.frombuffer(ctypes.string_at(tensor.pointer, count * dtype.itemsize), dtype).reshape(tensor.shape)


UNIMPLEMENTED = 11  # echoline_status


def with_kernels(test):
    """Skips a test case that needs the client's kernels if the build has none because nvcc is missing."""
    @functools.wraps(test)
    def tried(self):
        try:
            test(self)
        except RuntimeError as error:
            if getattr(error, "status", None) != UNIMPLEMENTED:
                raise
            self.skipTest(str(error))
    return tried


COUNTERS = ("contexts", "streams", "events", "modules", "device_allocations", "device_bytes", "host_allocations",
            "registrations", "registered_bytes", "operations", "copies", "copied_bytes", "pageable_copies", "kernels",
            "images", "torn_reads")


def counters():
    numbers = (ctypes.c_uint64 * len(COUNTERS))()
    _driver.fake_cuda_counters(numbers)
    return dict(zip(COUNTERS, numbers))


def await_counts(wanted):
    """Waits: a thread may free the last batch, after its stream has finished."""
    end = time.monotonic() + 20
    while time.monotonic() < end and any(counters()[name] != count for name, count in wanted.items()):
        time.sleep(0.01)
    return {name: counters()[name] for name in wanted}


def misuses():
    _driver.fake_cuda_misuse.restype = ctypes.c_char_p
    return [_driver.fake_cuda_misuse(i).decode() for i in range(_driver.fake_cuda_misuse_count())]


def set_delay(least_us, most_us):
    _driver.fake_cuda_set_delay(least_us, most_us, ctypes.c_uint64(1))


def fail(function, code):
    """Makes the next call of this driver function return `code`."""
    _driver.fake_cuda_fail(function.encode(), code, 1, 0)


def set_capture(stream, status):
    _driver.fake_cuda_set_capture(ctypes.c_void_p(stream), status)
