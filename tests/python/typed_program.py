"""What mypy must see of the package; steps_test.py runs it. Where the program has a mistake, a comment says which one."""
from typing import Any, Dict, Tuple, assert_type

import echoline
import echoline.torch
import numpy as np
import torch
from echoline import steps

pipeline = [steps.read("photos/*.tar", split={"to": "90%"}), steps.shuffle(window="all"),
            steps.decode(image={"key": "jpg", "as": "rgb"}, label={"key": "cls", "as": "int64"}),
            steps.random_resized_crop("image", 32), steps.batch(16, last="pad"), steps.publish(access=["group:train"])]
assert_type(pipeline[0], Dict[str, Dict[str, Any]])
whole: "list[Dict[str, Any]]" = [echoline.MapDataset(dict, names=("image",), workers=2), *pipeline[1:]]
echoline.MapDataset("photos")  # type: ignore[arg-type]
steps.batch("many")  # type: ignore[arg-type]
steps.read("photos", format="webdatset")  # type: ignore[arg-type]
steps.decode(image={"key": "jpg", "has": "rgb"})  # type: ignore[typeddict-unknown-key]
steps.batch()  # type: ignore[call-arg]
echoline.torch.Loader("train", rnk=1)  # type: ignore[call-overload]

for arrays in echoline.Loader(pipeline, rank=0):
    ids: "np.ndarray[Any, Any]" = arrays.sample_ids

with echoline.torch.Loader("train") as loader:
    assert_type(loader, "echoline.torch.Loader[echoline.torch.TensorBatch]")
    assert_type(loader.batch_size, int)
    for batch in loader:
        assert_type(batch["image"], torch.Tensor)
        assert_type(batch.valid, torch.Tensor)
for image, label in echoline.torch.Loader("train", fields=("image", "label")):
    assert_type(image, torch.Tensor)
assert_type(echoline.torch.Loader("train", fields={"image": "pixels"}).next(), "echoline.torch.TensorBatch | None")
mix = echoline.torch.RandomChoice([echoline.torch.MixUp(0.2, 10), echoline.torch.CutMix(1.0, classes=10)])
assert_type(echoline.torch.Loader("train", collate=mix).next(), "echoline.torch.TensorBatch | None")
for image, label in echoline.torch.Loader("train", fields=("image", "label"), collate=mix):
    assert_type(label, torch.Tensor)
assert_type(mix(batch), echoline.torch.TensorBatch)
echoline.torch.MixUp(0.2)  # type: ignore[call-arg]


def collate(batch: echoline.torch.TensorBatch) -> Tuple[torch.Tensor, int]:
    return batch["image"], batch.rows


made = echoline.torch.Loader(pipeline, collate=collate)
for pixels, rows in made:
    assert_type(rows, int)
assert_type(echoline.torch.Dataset(made), "echoline.torch.Dataset[tuple[torch.Tensor, int]]")
