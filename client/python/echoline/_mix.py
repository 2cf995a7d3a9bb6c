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

_PARTNERS = ("same_batch", "next_batch")

Values = TypeVar("Values", bound=Dict[str, Any])  # a batch as the loop gives it
Change = Callable[[Any, Optional[Any]], Any]  # of rows and their partners, as in Arrays


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

    # `partners` has as many rows. None: the partner is the row before; the last row comes before the first one.

    @abstractmethod
    def blend(self, rows: Any, partners: Optional[Any], share: float) -> Any:
        """share * row + (1 - share) * its partner."""

    @abstractmethod
    def paste(self, rows: Any, partners: Optional[Any], box: Box, width_axis: int) -> Any:
        """Rows with this box of their partners. The axis before `width_axis` is the height."""

    @abstractmethod
    def cycle(self, rows: Any, count: int) -> Any:
        """The first `count` rows; after the last one, the first one comes again."""

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
    needs_next: bool         # partners are in the next batch

    def __call__(self, batch: Values, next_batch: Optional[Values] = None) -> Values:
        """A new batch; the given ones do not change. `next_batch`: for partner="next_batch", except with the last batch."""
        random = random_of(batch)
        place: Any = batch
        if self.needs_next and next_batch is None and not place.is_last:
            raise InvalidArgument(f"{self!r} takes partners from the next batch: call mix(batch, next_batch), or pass the mix "
                                  "as collate")
        return self._mix(batch, next_batch, random)

    def mix_pair(self, batch: Values, next_batch: Optional[Values]) -> Values:
        """The same, where None says that the epoch has no other batch."""
        return self._mix(batch, next_batch, random_of(batch))

    @abstractmethod
    def _mix(self, batch: Values, next_batch: Optional[Values], random: np.random.RandomState) -> Values: ...


def _has_partners(batch: Any, next_batch: Any) -> bool:
    """Not in another epoch, not only repeats that fill up a batch, and not another use of the same batch."""
    if next_batch is None or batch.is_last or next_batch.epoch != batch.epoch or next_batch.valid_rows == 0:
        return False
    return not np.array_equal(np.asarray(batch.sample_ids), np.asarray(next_batch.sample_ids))


class RowMix(Mix):
    """Each row is mixed with the row before it, the first one with the last one, as torchvision does; or with the same row
    of the next batch."""

    _arrays: Arrays

    def __init__(self, alpha: float, classes: int, image: str, label: str, partner: str) -> None:
        if not (isinstance(alpha, (int, float)) and 0 < alpha < math.inf):
            raise InvalidArgument(f"alpha must be a number above 0, not {alpha!r}")
        if isinstance(classes, bool) or not isinstance(classes, int) or classes < 1:
            raise InvalidArgument(f"classes must be the number of classes, not {classes!r}")
        if partner not in _PARTNERS:
            raise InvalidArgument(f"partner must be one of {', '.join(_PARTNERS)}, not {partner!r}")
        self.alpha, self.classes, self.image, self.label = float(alpha), classes, image, label
        self.fields, self.needs_next = (image, label), partner == "next_batch"

    def _mix(self, batch: Values, next_batch: Optional[Values], random: np.random.RandomState) -> Values:
        images, labels = self._values(batch)
        share, change = self._draw(images, random)
        other_images = other_labels = None
        if self.needs_next and _has_partners(batch, next_batch):
            assert next_batch is not None
            other_images, other_labels = (self._partners(batch, next_batch, rows) for rows in self._values(next_batch))
            if other_images.shape[1:] != images.shape[1:]:
                raise InvalidArgument(f"{self!r}: field {self.image!r} has the shape {list(images.shape)}, and "
                                      f"{list(other_images.shape)} in the next batch: partner='next_batch' needs one shape")
        mixed = copy.copy(batch)
        mixed[self.image] = self._of_valid(batch, images, other_images, change)
        mixed[self.label] = self._of_valid(batch, labels, other_labels,
                                           lambda rows, partners: self._arrays.blend(rows, partners, share))
        return mixed

    def _values(self, batch: Values) -> Tuple[Any, Any]:
        """The images and the soft labels."""
        for name in self.fields:
            if name not in batch:
                raise KeyError(f"no field {name!r}; there are: {', '.join(batch)}")
        images, labels = batch[self.image], self._soft(batch[self.label])
        if not hasattr(images, "dtype"):
            raise InvalidArgument(f"{self!r}: rows of field {self.image!r} have different sizes, so they can't be mixed")
        return images, labels

    @abstractmethod
    def _draw(self, images: Any, random: np.random.RandomState) -> Tuple[float, Change]:
        """The share of a row in its own label, and the change of the images."""

    def _partners(self, batch: Any, next_batch: Any, rows: Any) -> Any:
        """For each valid row of the batch one of the next batch, whose rows are `rows`."""
        return self._arrays.cycle(rows[:next_batch.valid_rows], batch.valid_rows)

    def _of_valid(self, batch: Any, rows: Any, partners: Optional[Any], change: Change) -> Any:
        # Repeats that fill up a batch are no partners, and stay what they are.
        valid = batch.valid_rows
        if valid == batch.rows:
            return change(rows, partners)
        return self._arrays.join(change(rows[:valid], partners), rows[valid:])

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
        partner = ", partner='next_batch'" if self.needs_next else ""
        return f"{type(self).__name__}(alpha={self.alpha:g}, classes={self.classes}{partner})"


class MixUp(RowMix):
    """Mixup: share * row + (1 - share) * its partner, for images of floats and for labels.

    `alpha`: the share, one for each batch, is drawn from Beta(alpha, alpha). `classes`: the length of the soft labels that
    replace the classes in field `label`. `partner`: "same_batch", the row before; or "next_batch", the same row of the next
    batch of the epoch.
    """

    def __init__(self, alpha: float, classes: int, image: str = "image", label: str = "label", *,
                 partner: str = "same_batch") -> None:
        super().__init__(alpha, classes, image, label, partner)

    def _draw(self, images: Any, random: np.random.RandomState) -> Tuple[float, Change]:
        if not self._arrays.is_float(images):
            raise InvalidArgument(f"{self!r}: field {self.image!r} has the type {images.dtype}, and only floats can be "
                                  "blended: add the step normalize, or on a GPU transforms={...: Normalize(...)}")
        share = float(random.beta(self.alpha, self.alpha))
        return share, lambda rows, partners: self._arrays.blend(rows, partners, share)


class CutMix(RowMix):
    """CutMix: a box of each image comes from its partner, and labels are mixed by the areas.

    `layout`: "chw" or "hwc", the order of an image's axes. The other arguments are those of MixUp; images can have any
    type.
    """

    def __init__(self, alpha: float, classes: int, image: str = "image", label: str = "label",
                 layout: str = "chw", *, partner: str = "same_batch") -> None:
        super().__init__(alpha, classes, image, label, partner)
        if layout not in ("chw", "hwc"):
            raise InvalidArgument(f"layout must be 'chw' or 'hwc', not {layout!r}")
        self.layout = layout

    def _draw(self, images: Any, random: np.random.RandomState) -> Tuple[float, Change]:
        height, width = self._size(images)
        half = 0.5 * math.sqrt(1.0 - random.beta(self.alpha, self.alpha))
        x, y, x_half, y_half = random.randint(width), random.randint(height), int(half * width), int(half * height)
        box = Box(max(x - x_half, 0), max(y - y_half, 0), min(x + x_half, width), min(y + y_half, height))
        share = 1.0 - (box.right - box.left) * (box.bottom - box.top) / (width * height)
        width_axis = 3 if self.layout == "chw" else 2
        return share, lambda rows, partners: self._arrays.paste(rows, partners, box, width_axis)

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
        self.needs_next = any(mix.needs_next for mix in self.mixes)

    def _mix(self, batch: Values, next_batch: Optional[Values], random: np.random.RandomState) -> Values:
        drawn = random.random_sample()
        below = np.cumsum(self.p[:-1])
        return self.mixes[int(np.searchsorted(below, drawn, side="right"))]._mix(batch, next_batch, random)

    def __repr__(self) -> str:
        return f"RandomChoice({', '.join(repr(mix) for mix in self.mixes)})"
