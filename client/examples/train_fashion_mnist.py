"""Trains a small perceptron on an Echoline stream of Fashion-MNIST until the test loss is TARGET (0.50).

usage: train_fashion_mnist.py TEST_IMAGES TEST_LABELS [STREAM [TARGET]]     (IDX files, unpacked; numpy only)
"""
import sys
import time

import echoline
import numpy as np

STREAM, TARGET = (sys.argv[3:] + ["train", "0.50"][len(sys.argv) - 3:])[:2]
LEARNING_RATE, MOMENTUM, TARGET = 0.024, 0.9, float(TARGET)
test_images, test_labels = np.fromfile(sys.argv[1], "u1", offset=16), np.fromfile(sys.argv[2], "u1", offset=8)
random = np.random.default_rng(1)
weights = [random.uniform(-1, 1, shape).astype("f4") * np.float32((6 / shape[0]) ** 0.5)
           for shape in ((784, 128), (128, 10))] + [np.zeros(128, "f4"), np.zeros(10, "f4")]
velocity = [np.zeros_like(weight) for weight in weights]


def forward(images):
    pixels = (images.reshape(-1, 784).astype("f4") / 255 - 0.286) / 0.353
    hidden = np.maximum(pixels @ weights[0] + weights[2], 0)
    shares = np.exp(hidden @ weights[1] + weights[3])
    return pixels, hidden, shares / shares.sum(axis=1, keepdims=True)


start, images, fresh, loss, loader = time.time(), 0, 0, np.inf, echoline.Loader(STREAM)
while loss > TARGET:
    for step, batch in enumerate(loader):  # one epoch
        pixels, hidden, error = forward(batch["image"])
        error[np.arange(len(error)), batch["label"]] -= 1
        before = (error @ weights[1].T) * (hidden > 0)
        gradients = pixels.T @ before, hidden.T @ error, before.sum(axis=0), error.sum(axis=0)
        for weight, speed, gradient in zip(weights, velocity, gradients):
            speed += gradient / len(error) - (1 - MOMENTUM) * speed
            weight -= LEARNING_RATE * (gradient / len(error) + MOMENTUM * speed)
        images, fresh = images + len(error), fresh + batch.fresh
        if step % 150 == 149:
            loss = -np.log(forward(test_images)[2][np.arange(len(test_labels)), test_labels]).mean()
            print(f"{time.time() - start:6.1f} s  {images:7d} images, {fresh:6d} fresh  test loss {loss:.3f}")
            if loss <= TARGET:
                break
