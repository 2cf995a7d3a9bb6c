#!/usr/bin/env python3
"""Trains a small detector of blood cells on one CPU or GPU: each cell of a coarse grid says which class has its centre
there, and where the four sides of the box are. The batches come from Echoline, boxes and pictures moved by the same draws.

    python3 train_boxes.py voc.tar --steps 300       # docs/detection.md says how to make the tar
"""
import argparse
import time

import echoline.torch
import torch
from torch import nn
from torch.nn import functional as F

CLASSES = ["RBC", "WBC", "Platelets"]
SIDE, STRIDE = 256, 16


def pipeline(url, batch, training, echo):
    decode = {"image": {"key": "jpg", "as": "rgb"}, "boxes": {"key": "xml", "as": "voc_boxes"},
              "labels": {"key": "xml", "as": "voc_labels", "classes": CLASSES}}
    steps = [{"read": {"url": url}}, {"shuffle": {"window": "all"}}, {"decode": decode}]
    if training:
        steps += [{"photometric_distort": {"field": "image"}}, {"random_iou_crop": {"field": "image"}}]
        if echo > 1:
            steps.append({"echo": {"factor": echo, "window": 4 * batch}})
    steps.append({"letterbox": {"field": "image", "size": SIDE}})
    if training:
        steps.append({"horizontal_flip": {"field": "image"}})
    return steps + [{"sanitize_boxes": {"field": "boxes", "min_size": 2}},
                    {"normalize": {"field": "image", "mean": [0.5] * 3, "std": [0.25] * 3}}, {"batch": {"size": batch}}]


def network():
    layers, channels = [], 3
    for width in (16, 32, 64, 96):
        layers += [nn.Conv2d(channels, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
        channels = width
    layers += [nn.Conv2d(channels, 96, 3, padding=1), nn.ReLU(), nn.Conv2d(96, len(CLASSES) + 4, 1)]
    nn.init.constant_(layers[-1].bias, -2.0)
    return nn.Sequential(*layers)


def targets(batch, device):
    """Of each cell of the grid: which class has its centre there, and the distances to the sides of its box."""
    grid = SIDE // STRIDE
    classes = torch.zeros(len(batch["boxes"]), len(CLASSES), grid, grid, device=device)
    sides = torch.zeros(len(batch["boxes"]), 4, grid, grid, device=device)
    for row, (boxes, labels) in enumerate(zip(batch["boxes"], batch["labels"])):
        boxes, labels = boxes.to(device), labels.to(device)
        cell = ((boxes[:, :2] + boxes[:, 2:]) / 2 / STRIDE).long().clamp(max=grid - 1)
        middle = (cell + 0.5) * STRIDE
        x, y = cell.T
        classes[row, labels, y, x] = 1
        sides[row, :, y, x] = torch.cat([middle - boxes[:, :2], boxes[:, 2:] - middle], 1).T / STRIDE
    return classes, sides


def loss_of(output, classes, sides):
    scores, distances = output[:, :len(CLASSES)], output[:, len(CLASSES):]
    chance = torch.sigmoid(scores)
    wrong = torch.where(classes > 0, 1 - chance, chance)  # focal loss: most cells are empty and easy
    found = (F.binary_cross_entropy_with_logits(scores, classes, reduction="none") * wrong ** 2).sum()
    has_box = classes.amax(1, keepdim=True)
    placed = (F.smooth_l1_loss(distances, sides, reduction="none") * has_box).sum()
    return (found + placed) / has_box.sum().clamp(min=1)


def overlap(a, b):
    """Intersection over union of boxes [n, 4], pair by pair."""
    shared = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(min=0).prod(1)
    return shared / ((a[:, 2:] - a[:, :2]).prod(1) + (b[:, 2:] - b[:, :2]).prod(1) - shared)


@torch.no_grad()
def evaluate(model, loader, device):
    """The share of boxes whose class is found where their centre is, with an overlap of at least one half."""
    model.eval()
    good = total = 0
    for batch in loader:
        output = model(batch["image"].to(device)).cpu()
        for row, (boxes, labels) in enumerate(zip(batch["boxes"], batch["labels"])):
            cell = ((boxes[:, :2] + boxes[:, 2:]) / 2 / STRIDE).long().clamp(max=SIDE // STRIDE - 1)
            x, y = cell.T
            scores, distances = output[row, :len(CLASSES), y, x], output[row, len(CLASSES):, y, x].T * STRIDE
            middle = (cell + 0.5) * STRIDE
            made = torch.cat([middle - distances[:, :2], middle + distances[:, 2:]], 1)
            good += int(((scores.argmax(0) == labels) & (overlap(made, boxes) >= 0.5)).sum())
            total += len(boxes)
    model.train()
    return good / max(total, 1)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("url")
    options.add_argument("--steps", type=int, default=300)
    options.add_argument("--batch", type=int, default=16)
    options.add_argument("--echo", type=float, default=1, help="factor of an echo before letterbox and flip")
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = options.parse_args()
    torch.manual_seed(0)
    model = network().to(options.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    loader = echoline.torch.Loader(pipeline(options.url, options.batch, True, options.echo))
    step, began = 0, time.monotonic()
    while step < options.steps:
        for batch in loader:
            loss = loss_of(model(batch["image"].to(options.device)), *targets(batch, options.device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 50 == 0 or step == options.steps:
                print(f"step {step}: loss {float(loss):.3f}, {step / (time.monotonic() - began):.1f} steps/s", flush=True)
            if step == options.steps:
                break
    with echoline.torch.Loader(pipeline(options.url, options.batch, False, 1), job="evaluation") as checking:
        print(f"found with an overlap of one half: {evaluate(model, checking, options.device):.1%} of the boxes")


if __name__ == "__main__":
    main()
