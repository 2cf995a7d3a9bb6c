"""Trains a small convolutional network on an Echoline stream of pictures, on a GPU, by PyTorch.

usage: train_cuda.py [STREAM [EPOCHS [ECHO_FACTOR]]]

The stream has uint8 rows [height, width, 3] in `image` and int64 class numbers in `label` (docs/first_stream.md). Pixels
are normalised on the GPU. Each batch is used ECHO_FACTOR times there, with a new random mirroring each time.
"""
import sys
import time

import torch
from torch import nn

import echoline.torch

STREAM = sys.argv[1] if len(sys.argv) > 1 else "train"
EPOCHS, FACTOR = (int(word) for word in (sys.argv[2:4] + ["3", "1"][len(sys.argv[2:4]):]))
CLASSES = 1000

normalize = echoline.torch.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225), dtype=torch.bfloat16,
                                     layout="channels_last", flip=True)
try:
    loader = echoline.torch.Loader(STREAM, device="cuda", depth=3, echo=(FACTOR, max(4 * FACTOR - 3, 1)),
                                   fields=("image", "label"), transforms={"image": normalize})
except echoline.Error as error:
    sys.exit(f"train_cuda.py: {error}")

layers, channels = [], 3
for width in (32, 64, 128, 256):
    layers += [nn.Conv2d(channels, width, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    channels = width
model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES))
model = model.to("cuda", memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)

for epoch in range(EPOCHS):
    begin, rows, total = time.perf_counter(), 0, torch.zeros((), device="cuda")
    for image, label in loader:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(image), label)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(label)  # no .item() here: the host would wait for the GPU at each step
        rows += len(label)
    mean = total.item() / rows
    stats = loader.stats()
    print(f"epoch {epoch}: loss {mean:.3f}, {rows / (time.perf_counter() - begin):.0f} rows/s; the GPU waited for "
          f"data {100 * stats['wait_ns'] / max(stats['span_ns'], 1):.1f} % of the time")
