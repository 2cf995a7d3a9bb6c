"""Finds and loads the compiled module (client/python/native), which contains the client library."""
from __future__ import annotations

import importlib.machinery
import importlib.util
import os
from typing import TYPE_CHECKING


def _load():
    """Loads the file that ECHOLINE_LIBRARY names, else the one in the package."""
    name = __package__ + "._echoline"
    chosen = os.environ.get("ECHOLINE_LIBRARY")
    if chosen:
        spec = importlib.util.spec_from_loader(name, importlib.machinery.ExtensionFileLoader(name, chosen))
    else:
        spec = importlib.util.find_spec(name)
    if spec is None:
        raise ImportError("the package has no compiled module: install it by pip, or build the target "
                          "echoline_python and set ECHOLINE_LIBRARY to its _echoline.abi3.so")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from . import _echoline as native
else:
    native = _load()
