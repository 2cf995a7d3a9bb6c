"""Mixup and CutMix on torch tensors, on the CPU or on a GPU, with the values of torchvision.transforms.v2."""
from __future__ import annotations

from typing import Optional, Tuple

import torch

from . import _mix

__all__ = ["CutMix", "MixUp"]


def _before(rows: torch.Tensor) -> torch.Tensor:
    # Not roll(): on a GPU it loses the memory format.
    return torch.cat([rows[-1:], rows[:-1]])


class _Tensors(_mix.Arrays):
    def is_float(self, rows: torch.Tensor) -> bool:
        return rows.is_floating_point()

    def blend(self, rows: torch.Tensor, partners: Optional[torch.Tensor], share: float) -> torch.Tensor:
        # torchvision's operations in their order: others round differently.
        others = _before(rows).mul_(1.0 - share) if partners is None else partners.mul(1.0 - share)
        return others.add_(rows.mul(share))

    def paste(self, rows: torch.Tensor, partners: Optional[torch.Tensor], box: _mix.Box, width_axis: int) -> torch.Tensor:
        mixed = rows.clone()

        def cut(batch: torch.Tensor) -> torch.Tensor:
            tall = batch.narrow(width_axis - 1, box.top, box.bottom - box.top)
            return tall.narrow(width_axis, box.left, box.right - box.left)

        if partners is not None:
            cut(mixed).copy_(cut(partners))
            return mixed
        cut(mixed[1:]).copy_(cut(rows[:-1]))
        cut(mixed[:1]).copy_(cut(rows[-1:]))
        return mixed

    def cycle(self, rows: torch.Tensor, count: int) -> torch.Tensor:
        return rows[:count] if count <= len(rows) else rows[torch.arange(count, device=rows.device) % len(rows)]

    def one_hot(self, labels: torch.Tensor, classes: int) -> torch.Tensor:
        return torch.nn.functional.one_hot(labels.long(), classes).float()

    def join(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        return torch.cat([first, second])

    def range_on_host(self, labels: torch.Tensor) -> Optional[Tuple[int, int]]:
        return None if labels.is_cuda else (int(labels.min()), int(labels.max()))


class MixUp(_mix.MixUp):
    __doc__ = _mix.MixUp.__doc__
    _arrays = _Tensors()


class CutMix(_mix.CutMix):
    __doc__ = _mix.CutMix.__doc__
    _arrays = _Tensors()
