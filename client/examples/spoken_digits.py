"""Trains a small convolutional network on log-mel spectrograms of spoken digits, on a GPU if there is one.

usage: spoken_digits.py ARCHIVE [--epochs N] [--echo FACTOR] [--batch N]      (needs torch)

ARCHIVE is a tar of the Free Spoken Digit Dataset, with files DIGIT_SPEAKER_NUMBER.wav (8000 Hz). Numbers 0 to 4 of each
speaker and digit are the test set, as the data set's authors propose. The daemon decodes, crops, adds noise, makes the
spectrograms and masks them; with --echo 2 it uses each decoded recording twice, each time with other draws.
"""
import argparse
import pathlib
import tarfile
import tempfile
import time

import echoline
import torch
from torch import nn

# The mean and the deviation bring the values near 0 and 1.
LOG_MEL = {"field": "audio", "n_fft": 256, "hop": 80, "n_mels": 40, "floor": 1e-6, "mean": -5, "std": 4}


def unpack(archive, folder):
    """Writes the recordings and the lists train.csv and test.csv."""
    lists = {name: ["path,label"] for name in ("train", "test")}
    with tarfile.open(archive) as tar:
        for member in tar:
            path = pathlib.PurePath(member.name)
            if path.suffix == ".wav":
                digit, _, number = path.stem.split("_")
                (folder / path.name).write_bytes(tar.extractfile(member).read())
                lists["test" if int(number) < 5 else "train"].append(f"{path.name},{digit}")
    for name, lines in lists.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


def configuration(folder, batch, echo):
    """Two streams: train, whose steps draw, and test, whose steps do not."""
    decode = {"decode": {"audio": {"key": "wav", "as": "audio", "rate": 8000}, "label": {"key": "cls", "as": "int64"}}}
    crop = {"field": "audio", "seconds": 0.8}
    masks = {"field": "audio", "time_masks": 1, "time_width": 20, "frequency_masks": 1, "frequency_width": 8}
    train = [{"read": {"url": f"{folder}/train.csv", "format": "files"}}, {"shuffle": {"window": "all"}}, decode,
             {"echo": {"factor": echo, "window": 8 * batch}},
             {"audio_crop": crop}, {"audio_noise": {"field": "audio", "snr": [10, 40]}}, {"log_mel": LOG_MEL},
             {"spec_augment": masks}, {"batch": {"size": batch}}]
    test = [{"read": {"url": f"{folder}/test.csv", "format": "files"}}, decode,
            {"audio_crop": {**crop, "position": "center"}}, {"log_mel": LOG_MEL},
            {"batch": {"size": 100, "last": "partial"}}]
    return {"streams": {"train": {"seed": 1, "pipeline": train}, "test": {"pipeline": test}}}


def network():
    def block(inputs, outputs):
        return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
                nn.MaxPool2d(2)]
    # Four parts of the time and all of the frequencies: digits differ in the order of their sounds.
    return nn.Sequential(*block(1, 16), *block(16, 32), *block(32, 32), nn.AdaptiveAvgPool2d((4, None)), nn.Flatten(),
                         nn.Dropout(0.3), nn.Linear(32 * 4 * 5, 10))


def spectrograms(batch, device):
    """Copies: the batch's memory is used again after the step. [rows, 1, frames, bands]"""
    return torch.tensor(batch["audio"], device=device)[:, None], torch.tensor(batch["label"], device=device)


@torch.no_grad()
def accuracy(model, loader, device):
    model.eval()
    right = total = 0
    for batch in loader:
        audio, label = spectrograms(batch, device)
        right += int((model(audio).argmax(1) == label).sum())
        total += len(label)
    model.train()
    return right / total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--echo", type=float, default=1, help="uses of each decoded recording (1)")
    parser.add_argument("--batch", type=int, default=64)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    model = network().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    with tempfile.TemporaryDirectory() as folder:
        unpack(options.archive, pathlib.Path(folder))
        config = configuration(pathlib.Path(folder), options.batch, options.echo)
        train, test = echoline.Loader(config, "train"), echoline.Loader(config, "test")
        begin = time.time()
        for epoch in range(options.epochs):
            rows = 0
            for batch in train:
                audio, label = spectrograms(batch, device)
                loss = nn.functional.cross_entropy(model(audio), label)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                rows += len(label)
            share = accuracy(model, test, device)
            print(f"{time.time() - begin:6.1f} s  epoch {epoch}: {rows} rows, loss {loss.item():.3f}, "
                  f"test accuracy {share:.1%}", flush=True)
        train.close()
        test.close()


if __name__ == "__main__":
    main()
