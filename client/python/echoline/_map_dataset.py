"""A map-style data set of the user's as the step `read` of a pipeline."""
from __future__ import annotations

import inspect
import os
import sys
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple

import numpy as np

from ._errors import InvalidArgument

_LOOKED_AT = 8  # samples, to know the types of their fields
_TYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64")


class MapDataset(Dict[str, Any]):
    """The step `read` of a pipeline for a data set with __len__ and __getitem__, such as torch.utils.data.Dataset.

        Loader([MapDataset(TrainSet, names=("image", "label")), steps.shuffle(window="all"), steps.batch(64)])

    `make` is a class or a function without arguments that gives the data set. It must be defined at the top level of a
    file, which workers of the daemon load by itself. `names` names the elements of samples that are tuples. Types and shapes of the fields
    are those of the first samples, which are made in this process; `out` gives them for single fields, as a
    configuration has them, for example {"boxes": {"as": "float32", "shape": [4], "max_length": 100}}. `settings` are
    others of `read.python`, such as workers=4.
    """

    def __init__(self, make: Callable[[], Any], names: Sequence[str] = (),
                 out: Optional[Mapping[str, Mapping[str, Any]]] = None, **settings: Any) -> None:
        python: Dict[str, Any] = {"file": _file_of(make), "function": make.__name__, **settings}
        if names:
            python["names"] = list(names)
        given = {name: dict(field) for name, field in (out or {}).items()}
        # Without a look at the data set where that says nothing new.
        found = {} if names and given.keys() >= set(names) else _fields_of(make(), names, given)
        python["out"] = {**found, **given}
        super().__init__(read={"python": python})


def _file_of(make: Callable[[], Any]) -> str:
    """The file that workers load."""
    name = getattr(make, "__qualname__", None)
    if name is None or not name.isidentifier():
        raise InvalidArgument(f"{make!r} is no class or function at the top level of a file, which workers could load")
    try:
        path = inspect.getsourcefile(make)
    except TypeError:
        path = None
    if path is None or not os.path.isfile(path):
        raise InvalidArgument(f"{name} is in no file, and workers load a file: write it to one, and import it from there")
    module = sys.modules.get(make.__module__)
    if getattr(module, name, None) is not make:
        raise InvalidArgument(f"{path} has another {name}: give the class or function that has this name in the file")
    return os.path.abspath(path)


def _fields_of(data_set: Any, names: Sequence[str], given: Mapping[str, Any]) -> Dict[str, Dict[str, Any]]:
    length = len(data_set)
    if length == 0:
        raise InvalidArgument("the data set has no samples")
    samples = [_named(data_set[number], names) for number in range(min(length, _LOOKED_AT))]
    wanted = [name for name in samples[0] if name not in given]
    return {name: _type_of(name, [sample[name] for sample in samples if name in sample]) for name in wanted}


def _named(sample: Any, names: Sequence[str]) -> Mapping[str, Any]:
    if isinstance(sample, Mapping):
        return sample
    names = names or getattr(sample, "_fields", ())
    values = sample if isinstance(sample, (tuple, list)) else (sample,)
    if len(values) != len(names):
        raise InvalidArgument(f"a sample has {len(values)} elements, and names has {len(names)}: name each element")
    return dict(zip(names, values))


def _type_of(name: str, values: List[Any]) -> Dict[str, Any]:
    kinds: Set[Tuple[str, Tuple[int, ...]]] = {_kind_of(name, value) for value in values}
    types, shapes = {kind[0] for kind in kinds}, {kind[1] for kind in kinds}
    if shapes == {()} and types == {"int64", "float64"}:
        types = {"float64"}  # Python's numbers, some of which have no fraction
    if len(types) > 1 or len(shapes) > 1:
        raise InvalidArgument(f"field {name} has several types or shapes in the first samples: "
                              f"{', '.join(f'{kind} {list(shape)}' for kind, shape in sorted(kinds))}; give out={{{name!r}: ...}}")
    shape = list(shapes.pop())
    return {"as": types.pop(), **({"shape": shape} if shape else {})}


def _kind_of(name: str, value: Any) -> Tuple[str, Tuple[int, ...]]:
    if isinstance(value, (str, bytes, bytearray)):
        raise InvalidArgument(f"field {name} is a text or bytes: give out={{{name!r}: {{'as': 'uint8', 'max_length': 1000}}}}")
    if isinstance(value, bool):
        return "uint8", ()
    array = np.asarray(value)
    if array.dtype.name not in _TYPES:
        raise InvalidArgument(f"field {name} has the type {array.dtype.name}; a field has one of {', '.join(_TYPES)}")
    return array.dtype.name, array.shape
