"""Training batches from the host's Echoline daemon, as read-only numpy views of shared memory.

    import echoline
    loader = echoline.Loader("train", rank=0, world_size=1)
    for epoch in range(3):
        for batch in loader:                  # one epoch; len(loader) is exact
            batch["image"], batch["label"]    # they hold their slot while they live; batch.copy() to keep
    state = loader.state_dict()               # small and JSON-able; loader.load_state_dict(state) is exact

`echoline.torch.Loader` yields torch tensors, `echoline.jax.Loader` arrays of JAX, both on a GPU too; `echoline.cuda.Loader` is
for other libraries on a GPU. `echoline.serve("stream.yaml")` runs a private daemon.
"""
from ._batch import Batch, Ragged
from ._errors import (DaemonGone, Detached, Error, FailedPrecondition, Forked, InvalidArgument, LeaseHeld, NotFound,
                      VersionMismatch)
from ._library import native as _native
from ._loader import Loader
from ._serve import Daemon, serve

__version__ = _native.version()
__all__ = ["Batch", "Daemon", "DaemonGone", "Detached", "Error", "FailedPrecondition", "Forked", "InvalidArgument",
           "LeaseHeld", "Loader", "NotFound", "Ragged", "VersionMismatch", "serve"]
