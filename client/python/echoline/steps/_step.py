"""A step as the functions of this package return it, and the types of their arguments."""
from __future__ import annotations

import os
from typing import Any, Dict, Literal, Mapping, Union

#: One item of a pipeline: the name of the step, and its settings.
Step = Dict[str, Dict[str, Any]]

Text = Union[str, "os.PathLike[str]"]
#: 4096 or "12GiB"
Size = Union[int, str]
#: "30ms", "10s", "5min"
Time = str
#: "20MB/s"
Rate = str
#: 0.01 or "1%"
Fraction = Union[float, str]
CountOrAll = Union[int, Literal["all"]]
CountOrAuto = Union[int, Literal["auto"]]
FactorOrAuto = Union[float, Literal["auto"]]


def make_step(name: str, settings: Mapping[str, Any]) -> Step:
    """The step with the settings that are given; the daemon knows the defaults of the others."""
    return {name: {key: value for key, value in settings.items() if value is not None}}
