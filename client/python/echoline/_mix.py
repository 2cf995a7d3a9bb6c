"""Mixup and CutMix: which rows of a batch are mixed, and how much. _torch_mix.py and _jax_mix.py change the arrays."""
from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from typing import Any, Callable, Dict, Generic, NamedTuple, Optional, Sequence, Tuple, TypeVar

import numpy as np

from ._errors import InvalidArgument

# Keeps these numbers apart from all others that have the seed as their key.
_PURPOSE = int.from_bytes(b"mix rows", "little")

Values = TypeVar("Values", bound=Dict[str, Any])  # a batch as the loop gives it


class Box(NamedTuple):
    """A rectangle in pixels, without its right column and its bottom row."""

    left: int
    top: int
    right: int
    bottom: int


class Arrays(ABC):
    """What mixing needs of a framework. Results are new arrays; `rows` can be read-only memory."""

    @abstractmethod
    def is_float(self, rows: Any) -> bool: ...

    @abstractmethod
    def blend(self, rows: Any, share: float) -> Any:
        """share * row + (1 - share) * the row before it; the last row comes before the first one."""

    @abstractmethod
    def paste(self, rows: Any, box: Box, width_axis: int) -> Any:
        """Rows with this box of the row before them. The axis before `width_axis` is the height."""

    @abstractmethod
    def one_hot(self, labels: Any, classes: int) -> Any: ...

    @abstractmethod
    def join(self, first: Any, second: Any) -> Any: ...

    @abstractmethod
    def range_on_host(self, labels: Any) -> Optional[Tuple[int, int]]:
        """The least and the largest label; None where asking would make the host wait for a GPU."""


def random_of(batch: Any) -> np.random.RandomState:
    """Random numbers that depend only on the place of a batch: seed, epoch, step, rank and first use.

    Of numpy's generators, only RandomState promises that its numbers never change. Under device echo, the uses of a
    batch have one step.
    """
    try:
        counter = (0, batch.step, batch.epoch << 32 | batch.rank, int(batch.uses[0]))
        key = (batch.seed, _PURPOSE)
    except AttributeError:
        raise InvalidArgument("the batch has lost its place in the stream (seed, epoch, step and rank), which decides the "
                              "draws: mix what the loader gives, before other code copies it, or pass the mix as collate") from None
    return np.random.RandomState(np.random.Philox(key=np.array(key, np.uint64), counter=np.array(counter, np.uint64)))


class Mix(ABC):
    """A function of a batch, or the `collate` of a loader, which then mixes before `fields` choose and rename."""

    fields: Tuple[str, ...]  # that the batch must have

    def __call__(self, batch: Values) -> Values:
        """A new batch; the given one does not change."""
        return self._mix(batch, random_of(batch))

    @abstractmethod
    def _mix(self, batch: Values, random: np.random.RandomState) -> Values: ...


class RowMix(Mix):
    """Each row is mixed with the row before it, the first one with the last one, as torchvision does."""

    _arrays: Arrays

    def __init__(self, alpha: float, classes: int, image: str, label: str) -> None:
        if not (isinstance(alpha, (int, float)) and 0 < alpha < math.inf):
            raise InvalidArgument(f"alpha must be a number above 0, not {alpha!r}")
        if isinstance(classes, bool) or not isinstance(classes, int) or classes < 1:
            raise InvalidArgument(f"classes must be the number of classes, not {classes!r}")
        self.alpha, self.classes, self.image, self.label = float(alpha), classes, image, label
        self.fields = (image, label)

    def _mix(self, batch: Values, random: np.random.RandomState) -> Values:
        for name in self.fields:
            if name not in batch:
                raise KeyError(f"no field {name!r}; there are: {', '.join(batch)}")
        images, labels = batch[self.image], self._soft(batch[self.label])
        if not hasattr(images, "dtype"):
            raise InvalidArgument(f"{self!r}: rows of field {self.image!r} have different sizes, so they can't be mixed")
        share, change = self._draw(images, random)
        mixed = copy.copy(batch)
        mixed[self.image] = self._of_valid(batch, images, change)
        mixed[self.label] = self._of_valid(batch, labels, lambda rows: self._arrays.blend(rows, share))
        return mixed

    @abstractmethod
    def _draw(self, images: Any, random: np.random.RandomState) -> Tuple[float, Callable[[Any], Any]]:
        """The share of a row in its own label, and the change of the images."""

    def _of_valid(self, batch: Any, rows: Any, change: Callable[[Any], Any]) -> Any:
        # Repeats that fill up a batch are no partners, and stay what they are.
        valid = batch.valid_rows
        return change(rows) if valid == batch.rows else self._arrays.join(change(rows[:valid]), rows[valid:])

    def _soft(self, labels: Any) -> Any:
        if self._arrays.is_float(labels):
            if labels.ndim != 2 or labels.shape[1] != self.classes:
                raise InvalidArgument(f"{self!r}: field {self.label!r} of shape {list(labels.shape)} is neither a class for "
                                      f"each row nor {self.classes} shares for each row")
            return labels
        if labels.ndim != 1:
            raise InvalidArgument(f"{self!r}: field {self.label!r} must have one class for each row, not the shape "
                                  f"{list(labels.shape)}")
        found = self._arrays.range_on_host(labels)
        if found is not None and not 0 <= found[0] <= found[1] < self.classes:
            raise InvalidArgument(f"{self!r}: labels of field {self.label!r} must be 0 to {self.classes - 1}, and this batch "
                                  f"has {found[0]} to {found[1]}")
        return self._arrays.one_hot(labels, self.classes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(alpha={self.alpha:g}, classes={self.classes})"


class MixUp(RowMix):
    """Mixup: share * row + (1 - share) * the row before it, for images of floats and for labels.

    `alpha`: the share, one for each batch, is drawn from Beta(alpha, alpha). `classes`: the length of the soft labels that
    replace the classes in field `label`.
    """

    def __init__(self, alpha: float, classes: int, image: str = "image", label: str = "label") -> None:
        super().__init__(alpha, classes, image, label)

    def _draw(self, images: Any, random: np.random.RandomState) -> Tuple[float, Callable[[Any], Any]]:
        if not self._arrays.is_float(images):
            raise InvalidArgument(f"{self!r}: field {self.image!r} has the type {images.dtype}, and only floats can be "
                                  "blended: add the step normalize, or on a GPU transforms={...: Normalize(...)}")
        share = float(random.beta(self.alpha, self.alpha))
        return share, lambda rows: self._arrays.blend(rows, share)


class CutMix(RowMix):
    """CutMix: a box of each image comes from the row before it, and labels are mixed by the areas.

    `layout`: "chw" or "hwc", the order of an image's axes. The other arguments are those of MixUp; images can have any
    type.
    """

    def __init__(self, alpha: float, classes: int, image: str = "image", label: str = "label",
                 layout: str = "chw") -> None:
        super().__init__(alpha, classes, image, label)
        if layout not in ("chw", "hwc"):
            raise InvalidArgument(f"layout must be 'chw' or 'hwc', not {layout!r}")
        self.layout = layout

    def _draw(self, images: Any, random: np.random.RandomState) -> Tuple[float, Callable[[Any], Any]]:
        height, width = self._size(images)
        half = 0.5 * math.sqrt(1.0 - random.beta(self.alpha, self.alpha))
        x, y, x_half, y_half = random.randint(width), random.randint(height), int(half * width), int(half * height)
        box = Box(max(x - x_half, 0), max(y - y_half, 0), min(x + x_half, width), min(y + y_half, height))
        share = 1.0 - (box.right - box.left) * (box.bottom - box.top) / (width * height)
        width_axis = 3 if self.layout == "chw" else 2
        return share, lambda rows: self._arrays.paste(rows, box, width_axis)

    def _size(self, images: Any) -> Tuple[int, int]:
        shape = list(images.shape)
        if len(shape) != 4:
            raise InvalidArgument(f"{self!r}: field {self.image!r} has the shape {shape}, and not that of a batch of images")
        if self.layout == "chw" and shape[3] <= 4 < shape[1]:
            raise InvalidArgument(f"{self!r}: field {self.image!r} has the shape {shape}: its channels seem to be last, so "
                                  "give layout='hwc'")
        first = 2 if self.layout == "chw" else 1
        return shape[first], shape[first + 1]


Choice = TypeVar("Choice", bound=Mix)


class RandomChoice(Mix, Generic[Choice]):
    """One of several mixes for each batch. `p`: their probabilities; default: all the same."""

    def __init__(self, mixes: Sequence[Choice], p: Optional[Sequence[float]] = None) -> None:
        self.mixes = tuple(mixes)
        self.p = (1 / max(len(self.mixes), 1),) * len(self.mixes) if p is None else tuple(float(one) for one in p)
        if not self.mixes or not all(isinstance(one, Mix) for one in self.mixes):
            raise InvalidArgument(f"RandomChoice takes a list of MixUp and CutMix, not {mixes!r}")
        if len(self.p) != len(self.mixes) or not all(one >= 0 for one in self.p) or not math.isclose(sum(self.p), 1):
            raise InvalidArgument(f"p must have a probability for each of the {len(self.mixes)} mixes, with the sum 1, "
                                  f"not {p!r}")
        self.fields = tuple(dict.fromkeys(name for mix in self.mixes for name in mix.fields))

    def _mix(self, batch: Values, random: np.random.RandomState) -> Values:
        drawn = random.random_sample()
        below = np.cumsum(self.p[:-1])
        return self.mixes[int(np.searchsorted(below, drawn, side="right"))]._mix(batch, random)

    def __repr__(self) -> str:
        return f"RandomChoice({', '.join(repr(mix) for mix in self.mixes)})"
