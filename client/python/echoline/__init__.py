"""Training batches from the Echoline daemon of this host, as read-only numpy views of shared memory.

    import echoline
    loader = echoline.Loader("train", rank=0, world_size=1)
    for epoch in range(3):
        for batch in loader:                  # one epoch; len(loader) is exact
            batch["image"], batch["label"]    # arrays hold a slot of the ring; batch.copy() keeps the data
    state = loader.state_dict()               # small, JSON; loader.load_state_dict(state) continues exactly there

`echoline.torch.Loader` yields torch tensors and `echoline.jax.Loader` JAX arrays, on the CPU or a GPU.
`echoline.cuda.Loader` is for other libraries on a GPU. `echoline.serve("stream.yaml")` runs a private daemon.
`echoline.steps` has a function for each step of a pipeline, and `echoline.MapDataset` reads a data set of your own.
"""
from . import steps
from ._batch import Batch, Ragged
from ._errors import (DaemonGone, Detached, Error, FailedPrecondition, Forked, InvalidArgument, LeaseHeld, NotFound,
                      VersionMismatch)
from ._library import native as _native
from ._loader import Loader
from ._map_dataset import MapDataset
from ._serve import Daemon, serve

__version__ = _native.version()
__all__ = ["Batch", "Daemon", "DaemonGone", "Detached", "Error", "FailedPrecondition", "Forked", "InvalidArgument",
           "LeaseHeld", "Loader", "MapDataset", "NotFound", "Ragged", "VersionMismatch", "serve", "steps"]
