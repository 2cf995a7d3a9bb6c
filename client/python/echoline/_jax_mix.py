"""Mixup and CutMix on jax.Arrays."""
from __future__ import annotations

from typing import Any, Optional, Tuple

import jax
import jax.numpy as jnp
import numpy as np

from . import _mix

__all__ = ["CutMix", "MixUp"]


def _partners(rows: Any, partners: Optional[Any]) -> Any:
    return jnp.roll(rows, 1, 0) if partners is None else partners


class _JaxArrays(_mix.Arrays):
    def is_float(self, rows: Any) -> bool:
        return jnp.issubdtype(rows.dtype, jnp.floating)

    def blend(self, rows: Any, partners: Optional[Any], share: float) -> Any:
        return _partners(rows, partners) * (1.0 - share) + rows * share

    def paste(self, rows: Any, partners: Optional[Any], box: _mix.Box, width_axis: int) -> Any:
        # A mask, because JAX would compile a slice again for each size of the box.
        row, column = (jax.lax.broadcasted_iota(jnp.int32, rows.shape[1:], axis - 1) for axis in (width_axis - 1, width_axis))
        inside = (row >= box.top) & (row < box.bottom) & (column >= box.left) & (column < box.right)
        return jnp.where(inside, _partners(rows, partners), rows)

    def cycle(self, rows: Any, count: int) -> Any:
        return rows[:count] if count <= len(rows) else rows[jnp.arange(count) % len(rows)]

    def one_hot(self, labels: Any, classes: int) -> Any:
        return jax.nn.one_hot(labels, classes, dtype=jnp.float32)

    def join(self, first: Any, second: Any) -> Any:
        return jnp.concatenate([first, second])

    def range_on_host(self, labels: Any) -> Optional[Tuple[int, int]]:
        if any(device.platform != "cpu" for device in labels.devices()):
            return None
        found = np.asarray(labels)
        return int(found.min()), int(found.max())


class MixUp(_mix.MixUp):
    __doc__ = _mix.MixUp.__doc__
    _arrays = _JaxArrays()


class CutMix(_mix.CutMix):
    __doc__ = _mix.CutMix.__doc__
    _arrays = _JaxArrays()
