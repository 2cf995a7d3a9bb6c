#!/usr/bin/env python3
"""The loops of other libraries over the WAV files of a tar, for audio.py: decode, crop or pad, log-mel spectrogram.
Prints {"spectrograms", "cpu_seconds"}.

    audio_loops.py torchaudio|librosa TAR FORM      FORM is JSON: rate, seconds, n_fft, hop, n_mels, epochs

All use one thread for each process. The first epoch is not counted: libraries load and compile on first use."""
import io
import json
import os
import random
import sys
import tarfile
import time

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy  # noqa: E402
import soundfile  # noqa: E402

BATCH = 50


def cropped(encoded, form):
    samples, rate = soundfile.read(io.BytesIO(encoded), dtype="float32")
    assert rate == form["rate"]
    length = round(form["seconds"] * rate)
    if len(samples) > length:
        begin = random.randrange(len(samples) - length + 1)
        return samples[begin:begin + length]
    return numpy.pad(samples, (0, length - len(samples)))


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def torchaudio(files, form):
    """A DataLoader with one worker process, which makes the spectrograms."""
    import torch
    import torchaudio as library

    torch.set_num_threads(1)

    class Spectrograms(torch.utils.data.Dataset):
        def __init__(self):
            self.mel = library.transforms.MelSpectrogram(form["rate"], n_fft=form["n_fft"], hop_length=form["hop"],
                                                         n_mels=form["n_mels"])

        def __len__(self):
            return len(files)

        def __getitem__(self, index):
            return torch.log(self.mel(torch.from_numpy(cropped(files[index], form))) + 1e-10)

    loader = torch.utils.data.DataLoader(Spectrograms(), BATCH, shuffle=True, num_workers=1, drop_last=True,
                                         persistent_workers=True)
    running = iter(loader)
    worker = running._workers[0].pid
    done = sum(len(batch) for batch in running)
    before = time.process_time() + cpu_seconds(worker)
    done = sum(len(batch) for _ in range(form["epochs"]) for batch in loader)
    return done, time.process_time() + cpu_seconds(worker) - before


def librosa(files, form):
    import librosa as library

    def epoch():
        for first in range(0, len(files) - BATCH + 1, BATCH):
            batch = [numpy.log(library.feature.melspectrogram(
                y=cropped(encoded, form), sr=form["rate"], n_fft=form["n_fft"], hop_length=form["hop"],
                n_mels=form["n_mels"]) + 1e-10) for encoded in files[first:first + BATCH]]
            yield len(numpy.stack(batch))

    sum(epoch())
    before = time.process_time()
    done = sum(count for _ in range(form["epochs"]) for count in epoch())
    return done, time.process_time() - before


def main(loop, path, form):
    with tarfile.open(path) as tar:
        files = [tar.extractfile(member).read() for member in tar]
    done, seconds = {"torchaudio": torchaudio, "librosa": librosa}[loop](files, json.loads(form))
    print(json.dumps({"spectrograms": done, "cpu_seconds": seconds}))


if __name__ == "__main__":
    main(*sys.argv[1:])
