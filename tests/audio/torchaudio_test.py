"""Compares steps on audio with torchaudio, for which log_mel_test.cc only has a few recorded values: log_mel, mfcc,
resampling, noise and masks."""
import pathlib
import sys
import tempfile
import unittest
import unittest.mock
import wave

for folder in ("decode/dump", "augment"):
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / folder))
from draws import Draws, mask as draw_mask
from pipelines import numpy, run

try:
    import torch
    import torchaudio
except ImportError as missing:
    print(f"skipped: {missing}; python3-torchaudio is needed", flush=True)
    sys.exit(77)  # ctest's SKIP_RETURN_CODE

RATE = 16000
MEL = "n_fft: 400 hop: 160 n_mels: 40"


def decode(rate=RATE, **more):
    settings = " ".join(f"{key}: {value}" for key, value in {"rate": rate, "max_seconds": 4, **more}.items())
    return f'decode {{ fields {{ key: "audio" value {{ key: "wav" as: "audio" {settings} }} }} }}'


def sound(samples, seed):
    """Tones that change, and noise: about -20 to 0 dB of full scale."""
    random = numpy.random.default_rng(seed)
    i = numpy.arange(samples)
    tones = sum(numpy.sin(i * random.uniform(0.01, 1.5) + 3 * numpy.sin(i * 0.001)) for _ in range(3))
    return 0.2 * tones * (1 + numpy.sin(i * 0.0007)) / 2 + random.normal(0, 0.02, samples)


def write(path, samples, rate=RATE):
    with wave.open(str(path), "wb") as out:
        out.setparams((1, 2, rate, 0, "NONE", ""))
        out.writeframes(numpy.clip(numpy.round(samples * 32768), -32768, 32767).astype("<i2").tobytes())
    return path


class Steps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.paths = [write(cls.folder / f"{i}.wav", sound(5000 + 3001 * i, i)) for i in range(12)]
        cls.sounds = [torch.from_numpy(samples) for samples in run([decode()], cls.paths, field="audio")]

    def check(self, what, steps, theirs, most):
        """`theirs`: a function of the samples, with mels first. `most`: the largest difference that is allowed."""
        worst = 0.0
        for samples, ours in zip(self.sounds, run([decode(), *steps], self.paths, field="audio")):
            expected = theirs(samples).numpy().T
            self.assertEqual(ours.shape, expected.shape)
            worst = max(worst, float(numpy.abs(ours - expected).max()))
        print(f"{what}: largest difference to torchaudio {torchaudio.__version__} {worst:.2g}", flush=True)
        self.assertLess(worst, most)

    def mel(self, **more):
        return torchaudio.transforms.MelSpectrogram(RATE, n_fft=400, hop_length=160, n_mels=40, **more)

    def test_spectrograms(self):
        mel, slaney = self.mel(), self.mel(mel_scale="slaney", norm="slaney", power=1.0, f_min=40.0, f_max=7600.0)
        decibels, amplitudes = (torchaudio.transforms.AmplitudeToDB(kind, top_db=80) for kind in ("power", "magnitude"))
        self.check("log_mel", [f'log_mel {{ field: "audio" {MEL} }}'], lambda x: torch.log(mel(x).clamp(1e-10)), 2e-3)
        self.check("log_mel in dB", [f'log_mel {{ field: "audio" {MEL} log: "db" top_db: 80 }}'],
                   lambda x: decibels(mel(x)), 5e-3)
        self.check("log_mel of magnitudes, scale slaney, in dB",
                   [f'log_mel {{ field: "audio" {MEL} scale: "slaney" norm: "slaney" power: 1 f_min: 40 f_max: 7600 log: "db" '
                    'top_db: 80 }'], lambda x: amplitudes(slaney(x)), 5e-3)

    def test_mfcc(self):
        mfcc = torchaudio.transforms.MFCC(RATE, n_mfcc=13, melkwargs={"n_fft": 400, "hop_length": 160, "n_mels": 40})
        self.check("mfcc", [f'log_mel {{ field: "audio" {MEL} log: "db" top_db: 80 }}', 'mfcc { field: "audio" n_mfcc: 13 }'],
                   mfcc, 5e-3)

    def test_resampled_tones_below_the_filters_are_the_same(self):
        """soxr and torchaudio have other filters, so sounds are equal only where both let everything pass."""
        i = numpy.arange(16000)
        for rate, to in ((16000, 8000), (8000, 16000), (44100, 16000)):
            # Below 0.4 of the lower rate.
            tones = sum(0.2 * numpy.sin(2 * numpy.pi * share * min(rate, to) / rate * i) for share in (0.03, 0.11, 0.29, 0.39))
            path = write(self.folder / f"{rate}.wav", tones, rate)
            [samples], [ours] = (run([decode(*args, **more)], [path], field="audio")
                                 for args, more in (((rate,), {}), ((to,), {"resample": "true"})))
            theirs = torchaudio.functional.resample(torch.from_numpy(samples), rate, to, lowpass_filter_width=64, rolloff=0.95,
                                                    resampling_method="kaiser_window", beta=14.77).numpy()
            self.assertLessEqual(abs(len(ours) - len(theirs)), 1)
            inside = slice(200, min(len(ours), len(theirs)) - 200)  # at the ends, sounds begin and stop suddenly
            worst = float(numpy.abs(ours[inside] - theirs[inside]).max())
            print(f"resample {rate} to {to}: largest difference to torchaudio {worst:.2g} of full scale", flush=True)
            self.assertLess(worst, 1e-3)

    def test_masks(self):
        log_mel = f'log_mel {{ field: "audio" {MEL} }}'
        mask = 'spec_augment { field: "audio" time_masks: 1 time_width: 20 frequency_masks: 1 frequency_width: 15 fill: "zero" }'
        plain, masked = (run([decode(), log_mel, *steps], self.paths, field="audio") for steps in ((), (mask,)))
        for sample, (before, ours) in enumerate(zip(plain, masked)):
            draws = Draws(7, sample, 0, 0, 2)
            theirs = torch.from_numpy(before.T.copy())[None]
            for axis, width in ((2, 20), (1, 15)):
                first, length = draw_mask(draws, min(width, theirs.shape[axis]), theirs.shape[axis])
                # torchaudio takes the whole part of both; its masks are narrower than mask_param.
                share = (length + 0.5) / (width + 1)
                place = (first + 0.25) / (theirs.shape[axis] - length - 0.5) if length < theirs.shape[axis] else 0.0
                with unittest.mock.patch("torch.rand", side_effect=[torch.tensor([share]), torch.tensor([place])]):
                    theirs = torchaudio.functional.mask_along_axis(theirs, width + 1, 0.0, axis)
            numpy.testing.assert_array_equal(ours, theirs[0].numpy().T)
        self.assertTrue(any((a != b).any() for a, b in zip(plain, masked)))

    def test_noise_from_files_by_the_formula_of_add_noise(self):
        """This torchaudio has no add_noise, which came with 2.0: this is its formula, in torch."""
        noise = write(self.folder / "noise.wav", sound(9000, 99))
        [noise_samples] = run([decode()], [noise], field="audio")
        worst = 0.0
        steps = [decode(), f'audio_noise {{ field: "audio" snr: [3, 3] files: "{noise}" }}']
        for sample, (clean, ours) in enumerate(zip(self.sounds, run(steps, self.paths, field="audio"))):
            draws = Draws(7, sample, 0, 0, 1)
            draws.uniform(), draws.uniform(), draws.below(1)  # the probability, the decibels, the file
            longer = len(noise_samples) > len(clean)
            first = draws.below(len(noise_samples) - len(clean) + 1 if longer else len(noise_samples))
            other = torch.from_numpy(numpy.resize(numpy.roll(noise_samples, -first) if not longer else noise_samples[first:],
                                                  len(clean)).copy())
            original = 10 * (torch.log10((clean ** 2).sum()) - torch.log10((other ** 2).sum()))
            theirs = clean + 10 ** ((original - 3) / 20) * other
            worst = max(worst, float(numpy.abs(ours - theirs.numpy()).max() / theirs.abs().max()))
        print(f"audio_noise from files: largest difference to the formula of add_noise {worst:.2g} of the largest value")
        self.assertLess(worst, 1e-5)


if __name__ == "__main__":
    unittest.main()
