"""Batches as jax.Arrays. Only this module and _jax_mix.py import jax.

    loader = echoline.jax.Loader("train")                    # on the CPU
    loader = echoline.jax.Loader("train", device="cuda:0")   # on a GPU, by DLPack

On the CPU JAX copies the batch: it cannot use read-only memory. Without jax_enable_x64 it has no 64-bit types.
The caller handles meshes and shardings: `jax.device_put(batch, sharding)` distributes the batch of this process.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Sequence, Union

import jax
import jax.numpy as jnp
import numpy as np

from . import cuda
from ._batch import Batch
from ._batch import Ragged as _HostRagged
from ._configuration import Configuration
from ._errors import Error, InvalidArgument
from ._framework import UNAVAILABLE, Fields, FrameworkLoader, NumpyLoader, gpu_options, host_options
from ._jax_mix import CutMix, MixUp
from ._mix import RandomChoice
from ._options import FrameworkOptions
from .cuda import Flip, Normalize, Ragged

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["ArrayBatch", "CutMix", "Flip", "Loader", "MixUp", "Normalize", "Ragged", "RandomChoice"]


class ArrayBatch(Dict[str, Any]):
    """A dict from field names to arrays, or to `Ragged` of two arrays, with the properties of the batch.

    `sample_ids`, `uses`, `flags` and `valid` are numpy arrays.
    """

    seed: int
    rank: int

    def __init__(self, batch: Union[Batch, cuda.Batch], values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.epoch, self.step, self.rows = batch.epoch, batch.step, batch.rows
        self.valid_rows, self.fresh, self.is_last = batch.valid_rows, batch.fresh, batch.is_last
        self.bucket_length = batch.bucket_length
        self.sample_ids, self.uses = np.array(batch.sample_ids), np.array(batch.uses)
        self.flags, self.valid = np.array(batch.flags), np.array(batch.valid)


def _gpu_of(device: Any) -> Optional[int]:
    """The ordinal of a CUDA GPU; None for the CPU."""
    platform, _, index = str(device).partition(":")
    if isinstance(device, jax.Device):
        platform, index = device.platform, str(device.local_hardware_id)
    if platform == "cpu":
        return None
    if platform not in ("cuda", "gpu"):
        raise InvalidArgument(f"device must be 'cpu', 'cuda', 'cuda:1' or a jax.Device of these, not {device!r}")
    try:
        jax.devices("cuda")
    except RuntimeError as error:
        raise Error(f"device={device!r}: this jax {jax.__version__} has no CUDA: {error}; install jax[cuda12], or leave "
                    "device out", UNAVAILABLE) from error
    return int(index or 0)


class _DeviceLoader(cuda.Loader):
    # JAX releases memory when all computations that it has queued are done, later than Python destroys the array.
    _patience = 10.0


class Loader(FrameworkLoader[Any]):
    """Each `for` loop is one epoch of dicts of jax.Arrays (or what `fields` and `collate` say).

    Arguments are those of echoline.Loader. `fields=("image", "label")` yields tuples of these fields, in this order;
    `fields={"image": "pixels"}` yields dicts of these fields with the names on the right. `collate` is a function of such
    a batch whose result the loop yields instead; a MixUp, CutMix or RandomChoice of them mixes before that.
    `device`: "cpu", "cuda", "cuda:1", or a jax.Device. On a GPU there are also `depth`, `echo`, `transforms` and `pad` of
    echoline.cuda.Loader, and JAX's stream waits for each array.
    """

    def __init__(self, stream: Union[str, Configuration], *args: Any, fields: Optional[Fields] = None,
                 collate: Optional[Callable[[Any], Any]] = None, device: Any = "cpu", **kwargs: Unpack[FrameworkOptions]) -> None:
        ordinal = _gpu_of(device)
        self._on_gpu = ordinal is not None
        if ordinal is not None:
            super().__init__(_DeviceLoader(stream, *args, device=ordinal, **gpu_options(kwargs, collate)), fields, collate)
        else:
            self._cpu = jax.devices("cpu")[0]
            super().__init__(NumpyLoader(stream, *args, **host_options(kwargs)), fields, collate)

    def _make(self, batch: Any, names: Sequence[str]) -> ArrayBatch:
        return ArrayBatch(batch, {name: self._array(batch[name]) for name in names})

    def _array(self, value: Any) -> Any:
        if isinstance(value, (Ragged, _HostRagged)):
            return Ragged(self._array(value.values), self._array(value.offsets))
        if self._on_gpu:
            return jax.dlpack.from_dlpack(value)
        with jax.default_device(self._cpu):
            return jnp.asarray(value)
