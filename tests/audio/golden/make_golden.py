#!/usr/bin/env python3
"""Writes the cases of values.txt: what torchaudio, librosa and soxr make of one signal. golden.cc compares with them.
Give the cases as arguments, to a Python that has their library:
    python3 make_golden.py torchaudio torchaudio_inside torchaudio_magnitudes > values.txt
    python3 make_golden.py librosa librosa_mfcc whisper soxr >> values.txt"""
import sys

import numpy

RATE, SAMPLES = 8000, 3000


def signal():
    """A tone whose loudness changes, and noise from a linear congruential generator."""
    state, noise = 1, []
    for _ in range(SAMPLES):
        state = (state * 1664525 + 1013904223) % 2**32
        noise.append(state / 2**32 - 0.5)
    i = numpy.arange(SAMPLES)
    tone = numpy.sin(2 * numpy.pi * 0.031 * i) * (0.3 + 0.2 * numpy.sin(0.002 * i))
    return (tone + 0.05 * numpy.array(noise)).astype(numpy.float32)


def torchaudio_case(**more):
    import torch
    import torchaudio
    mel = torchaudio.transforms.MelSpectrogram(RATE, **more)(torch.from_numpy(signal()))
    return torch.log(mel.clamp(min=1e-10)).numpy().T


def torchaudio_magnitudes():
    import torch
    import torchaudio
    settings = {"n_fft": 256, "win_length": 200, "hop_length": 100, "n_mels": 16, "f_min": 60.0, "f_max": 3800.0,
                "power": 1.0, "mel_scale": "slaney", "norm": "slaney"}
    mel = torchaudio.transforms.MelSpectrogram(RATE, **settings)(torch.from_numpy(signal()))
    return torchaudio.transforms.AmplitudeToDB("magnitude", top_db=30)(mel).numpy().T


def librosa_case():
    import librosa
    mel = librosa.feature.melspectrogram(y=signal(), sr=RATE, n_fft=400, hop_length=160, n_mels=20)
    return librosa.power_to_db(mel).T


def librosa_mfcc():
    import librosa
    return librosa.feature.mfcc(y=signal(), sr=RATE, n_mfcc=13, n_fft=400, hop_length=160, n_mels=20).T


def whisper():
    """The formula of openai/whisper's log_mel_spectrogram, without leaving out the last frame."""
    import librosa
    spectrum = librosa.stft(signal(), n_fft=400, hop_length=160, pad_mode="reflect")
    bank = librosa.filters.mel(sr=RATE, n_fft=400, n_mels=20)
    mel = numpy.log10(numpy.maximum(bank @ numpy.abs(spectrum) ** 2, 1e-10))
    return ((numpy.maximum(mel, mel.max() - 8) + 4) / 4).T


def soxr():
    import soxr as library
    return library.resample(signal()[:400], RATE, 12000)[None]


CASES = {"torchaudio": lambda: torchaudio_case(n_fft=256, hop_length=80, n_mels=24),
         "torchaudio_inside": lambda: torchaudio_case(n_fft=200, hop_length=80, n_mels=16, center=False),
         "torchaudio_magnitudes": torchaudio_magnitudes, "librosa": librosa_case, "librosa_mfcc": librosa_mfcc,
         "whisper": whisper, "soxr": soxr}

if __name__ == "__main__":
    for name in sys.argv[1:]:
        values = CASES[name]()
        print(name, *values.shape)
        for row in values:
            print(*(f"{value:.9g}" for value in row))
