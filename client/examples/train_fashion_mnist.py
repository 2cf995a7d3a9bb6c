"""Trains a small perceptron on an Echoline stream of Fashion-MNIST until the test loss is 0.50.

usage: train_fashion_mnist.py TEST_IMAGES TEST_LABELS [STREAM]     (IDX files, unpacked; numpy only)
"""
import sys
import time

import numpy as np

import echoline

LEARNING_RATE, MOMENTUM, TARGET = 0.024, 0.9, 0.50
test_images = np.fromfile(sys.argv[1], np.uint8, offset=16).reshape(-1, 784)
test_labels = np.fromfile(sys.argv[2], np.uint8, offset=8)
rng = np.random.default_rng(1)
weights = [rng.uniform(-1, 1, shape).astype(np.float32) * np.float32((6 / shape[0]) ** 0.5)
           for shape in ((784, 128), (128, 10))]
weights += [np.zeros(128, np.float32), np.zeros(10, np.float32)]
velocity = [np.zeros_like(weight) for weight in weights]


def forward(images):
    pixels = (images.reshape(-1, 784).astype(np.float32) / 255 - 0.286) / 0.353
    hidden = np.maximum(pixels @ weights[0] + weights[2], 0)
    logits = hidden @ weights[1] + weights[3]
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return pixels, hidden, shares / shares.sum(axis=1, keepdims=True)


start, images_seen, fresh, loss = time.time(), 0, 0, np.inf
loader = echoline.Loader(sys.argv[3] if len(sys.argv) > 3 else "train")
while loss > TARGET:
    for step, batch in enumerate(loader):  # one epoch
        pixels, hidden, error = forward(batch["image"])
        error[np.arange(len(error)), batch["label"]] -= 1
        hidden_error = (error @ weights[1].T) * (hidden > 0)
        gradients = (pixels.T @ hidden_error, hidden.T @ error, hidden_error.sum(0), error.sum(0))
        for weight, speed, gradient in zip(weights, velocity, gradients):
            speed += gradient / len(error) - (1 - MOMENTUM) * speed
            weight -= LEARNING_RATE * (gradient / len(error) + MOMENTUM * speed)
        images_seen, fresh = images_seen + len(error), fresh + batch.fresh
        if step % 150 == 149:
            answers = forward(test_images)[2]
            loss = -np.log(answers[np.arange(len(answers)), test_labels]).mean()
            print(f"{time.time() - start:6.1f} s  {images_seen:7d} images, {fresh:6d} fresh  test loss {loss:.3f}")
            if loss <= TARGET:
                break
