"""Trains a softmax classifier on a stream of an Echoline daemon: an example of a trainer in a container of its own.

usage: train.py [STREAM [JOB [EPOCHS]]]     (train, default, 0: without end; numpy only)

Waits for the daemon, which may start later, and for its return when it was restarted. With RANK and WORLD_SIZE, as
torchrun sets them, it gets the batches of this rank. It does not average the models of the ranks.
"""
import os
import sys
import time

import echoline
import numpy as np

PATIENCE = 300  # seconds
LEARNING_RATE = 13.0  # divided by the number of inputs, so that large images do not diverge


def attach(stream, job):
    rank, world_size = (int(os.environ.get(name, default)) for name, default in (("RANK", 0), ("WORLD_SIZE", 1)))
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return echoline.Loader(stream, job=job, rank=rank, world_size=world_size, reattach=PATIENCE)
        except echoline.NotFound as error:
            if time.monotonic() > deadline:
                raise
            print(f"waiting: {error}")
            time.sleep(1)


class Softmax:
    """One layer, trained by plain gradient descent."""

    def __init__(self, inputs, classes=10):
        self.weights = np.zeros((inputs + 1, classes), "f4")

    def train(self, images, labels):
        """The mean loss before the step."""
        pixels = images.reshape(len(images), -1).astype("f4") / 127.5 - 1
        inputs = np.hstack([pixels, np.ones((len(pixels), 1), "f4")])
        scores = inputs @ self.weights
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        rows = np.arange(len(labels))
        loss = -np.log(np.maximum(shares[rows, labels], 1e-30)).mean()
        shares[rows, labels] -= 1
        self.weights -= LEARNING_RATE / inputs.shape[1] * (inputs.T @ shares) / len(labels)
        return loss


def main():
    stream, job, epochs = (sys.argv[1:] + ["train", "default", "0"][len(sys.argv) - 1:])[:3]
    loader, model, epoch = attach(stream, job), None, 0
    while not int(epochs) or epoch < int(epochs):
        start, images, fresh, losses = time.monotonic(), 0, 0, []
        for batch in loader:  # one epoch
            pixels, labels = batch["image"], batch["label"]
            model = model or Softmax(pixels[0].size)
            losses.append(model.train(pixels, labels))
            images, fresh = images + len(labels), fresh + batch.fresh
        rate = images / (time.monotonic() - start)
        print(f"epoch {epoch}: loss {np.mean(losses):.3f}, {images} images, {fresh} fresh, {rate:.0f} images/s")
        epoch += 1


if __name__ == "__main__":
    main()
