#!/usr/bin/env python3
"""Trains a small language model on the bytes of a text file, on one CPU or GPU: convolutions that predict the next byte.

    python3 train_bytes.py corpus.txt --steps 500       # needs torch; any file will do, docs/language.md says more

Echoline cuts the file into rows of CONTEXT bytes and the one after them. Nine tenths of the rows are for training, the
others are never trained on: the loss that is printed at the end is theirs.
"""
import argparse
import math
import time

import echoline.torch
import torch
from torch import nn
from torch.nn import functional as F


def streams(path, context, batch, echo):
    """Two streams over one file: a hash of a row's number decides to which of them it belongs."""
    def read(split):
        # A row begins with the last byte of the row before it, so that each byte is predicted once.
        return {"read": {"url": path, "format": "tokens", "split": split,
                         "tokens": {"length": context + 1, "stride": context, "dtype": "uint8"}}}
    decode = {"decode": {"bytes": {"key": "tokens", "as": "uint8", "shape": [context + 1]}}}
    train = [read({"to": "90%"}), {"shuffle": {"window": "all"}}, decode]
    if echo > 1:
        train.append({"echo": {"factor": echo, "window": 8 * batch}})
    train.append({"batch": {"size": batch}})
    test = [read({"from": "90%"}), decode, {"batch": {"size": batch, "last": "partial"}}]
    return {"streams": {"train": {"seed": 1, "pipeline": train}, "test": {"pipeline": test}}}


class Layer(nn.Module):
    """A gated convolution that sees a byte and two before it, `distance` apart."""
    def __init__(self, width, distance):
        super().__init__()
        self.before = 2 * distance
        self.mix, self.out = nn.Conv1d(width, 2 * width, 3, dilation=distance), nn.Conv1d(width, width, 1)

    def forward(self, seen):
        value, gate = self.mix(F.pad(seen, (self.before, 0))).chunk(2, 1)  # zeros before the text: nothing sees ahead
        return seen + self.out(torch.tanh(value) * torch.sigmoid(gate))


class Model(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.byte, self.out = nn.Embedding(256, width), nn.Conv1d(width, 256, 1)
        self.layers = nn.Sequential(*(Layer(width, 2 ** layer) for layer in range(layers)))

    def forward(self, text):
        """Scores of the next byte at each place: [rows, 256, places]."""
        return self.out(torch.relu(self.layers(self.byte(text).transpose(1, 2))))


def loss_of(model, batch, device):
    """Nats for each byte."""
    text = batch["bytes"].to(device).long()  # a copy: the batch's memory is used again after the step
    return F.cross_entropy(model(text[:, :-1]), text[:, 1:])


@torch.no_grad()
def test_loss(model, loader, device):
    model.eval()
    total = rows = 0
    for batch in loader:
        size = len(batch["bytes"])
        total, rows = total + size * float(loss_of(model, batch, device)), rows + size
    model.train()
    return total / rows


@torch.no_grad()
def written(model, length, context, device):
    """Bytes that the model draws, one after the other."""
    model.eval()
    text = torch.tensor([[10]], device=device)  # a line begins
    for _ in range(length):
        chances = torch.softmax(model(text[:, -context:])[:, :, -1] / 0.8, 1)
        text = torch.cat([text, torch.multinomial(chances, 1)], 1)
    return bytes(text[0].tolist()).decode("utf-8", "replace")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("path")
    options.add_argument("--steps", type=int, default=500)
    options.add_argument("--batch", type=int, default=16)
    options.add_argument("--context", type=int, default=128, help="bytes of a row")
    options.add_argument("--width", type=int, default=128)
    options.add_argument("--layers", type=int, default=6, help="each doubles the number of bytes that the model sees")
    options.add_argument("--echo", type=float, default=1, help="uses of each row before the next epoch")
    options.add_argument("--sample", type=int, default=200, help="bytes that the trained model writes")
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = options.parse_args()
    torch.manual_seed(0)
    device, bits = options.device, 1 / math.log(2)
    model = Model(options.width, options.layers).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, options.steps, pct_start=0.1)
    config = streams(options.path, options.context, options.batch, options.echo)
    train, test = echoline.torch.Loader(config, "train"), echoline.torch.Loader(config, "test")
    step, began = 0, time.monotonic()
    while step < options.steps:
        for batch in train:
            loss = loss_of(model, batch, device)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            step += 1
            if step % 50 == 0 or step == options.steps:
                print(f"step {step}: {float(loss) * bits:.2f} bits per byte, "
                      f"{step / (time.monotonic() - began):.1f} steps/s", flush=True)
            if step == options.steps:
                break
    print(f"test: {test_loss(model, test, device) * bits:.2f} bits per byte")
    if options.sample:
        print(written(model, options.sample, options.context, device))
    train.close()
    test.close()


if __name__ == "__main__":
    main()
