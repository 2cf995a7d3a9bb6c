"""Compares decoded audio with soundfile's, and spectrograms with torchaudio's where it is installed: on files of every
format, and on real recordings where ECHOLINE_TEST_DATA has them."""
import os
import pathlib
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "decode" / "dump"))
from pipelines import numpy, run

try:
    import soundfile
except ImportError as missing:
    print(f"skipped: {missing}; python3-soundfile is needed", flush=True)
    sys.exit(77)  # ctest's SKIP_RETURN_CODE

RATE = 8000
FORMATS = (("wav", "WAV", "PCM_16"), ("wav", "WAV", "PCM_24"), ("wav", "WAV", "PCM_32"), ("wav", "WAV", "PCM_U8"),
           ("wav", "WAV", "FLOAT"), ("wav", "WAV", "DOUBLE"), ("wav", "WAV", "ALAW"), ("wav", "WAV", "IMA_ADPCM"),
           ("flac", "FLAC", "PCM_16"), ("flac", "FLAC", "PCM_24"), ("ogg", "OGG", "VORBIS"), ("ogg", "OGG", "OPUS"),
           ("mp3", "MP3", "MPEG_LAYER_III"))


def decode(**more):
    settings = " ".join(f"{key}: {value}" for key, value in {"rate": RATE, "max_seconds": 4, **more}.items())
    keys = ";".join(sorted({extension for extension, _, _ in FORMATS}))
    return f'decode {{ fields {{ key: "audio" value {{ key: "{keys}" as: "audio" {settings} }} }} }}'


def mono(path):
    samples, _ = soundfile.read(path, dtype="float32", always_2d=True)
    return samples.mean(axis=1)


class Decoded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def made(self):
        """One and two channels of every format, of lengths that end within a frame of the format or not."""
        random = numpy.random.default_rng(1)
        for number, (extension, container, coding) in enumerate(FORMATS):
            for channels in (1, 2):
                for length in (1, 1152, 7001):
                    phase = numpy.arange(length)[:, None] * (0.03 + 0.02 * numpy.arange(channels))
                    samples = 0.4 * numpy.sin(phase) + random.normal(0, 0.05, (length, channels))
                    path = self.folder / f"{number}_{channels}_{length}.{extension}"
                    soundfile.write(path, samples, RATE, coding, format=container)
                    yield path

    def recordings(self):
        data = os.environ.get("ECHOLINE_TEST_DATA")
        archive = pathlib.Path(data, "fsdd-wav.tar.xz") if data else None
        if archive is None or not archive.exists():
            self.skipTest("ECHOLINE_TEST_DATA has no fsdd-wav.tar.xz")
        paths = []
        with tarfile.open(archive) as tar:
            for member in tar:
                if member.name.endswith(".wav"):
                    paths.append(self.folder / pathlib.Path(member.name).name)
                    paths[-1].write_bytes(tar.extractfile(member).read())
        return paths

    def compare(self, paths, results):
        for path, ours in zip(paths, results):
            with self.subTest(path=path.name):
                self.assertNotIsInstance(ours, str, ours)
                numpy.testing.assert_array_equal(ours, mono(path))

    def test_every_format_is_equal_bit_for_bit(self):
        paths = list(self.made())
        self.compare(paths, run([decode()], paths, field="audio"))

    def test_one_channel_is_equal_bit_for_bit(self):
        paths = [path for path in self.made() if "_2_" in path.name]
        for path, ours in zip(paths, run([decode(channel=1)], paths, field="audio")):
            numpy.testing.assert_array_equal(ours, soundfile.read(path, dtype="float32")[0][:, 1], path.name)

    def test_all_recordings_of_spoken_digits_are_equal_and_so_are_their_spectrograms(self):
        paths = self.recordings()
        self.compare(paths, run([decode()], paths, field="audio"))
        try:
            import torch
            import torchaudio
        except ImportError as missing:
            self.skipTest(f"{missing}; python3-torchaudio is needed for spectrograms")
        settings = 'log_mel { field: "audio" n_fft: 256 hop: 80 n_mels: 40 log: "db" top_db: 80 }'
        mel = torchaudio.transforms.MelSpectrogram(RATE, n_fft=256, hop_length=80, n_mels=40)
        decibels = torchaudio.transforms.AmplitudeToDB(top_db=80)
        worst = 0
        for path, ours in zip(paths, run([decode(), settings], paths, field="audio")):
            theirs = decibels(mel(torch.from_numpy(mono(path)))).numpy().T
            self.assertEqual(ours.shape, theirs.shape)
            worst = max(worst, float(numpy.abs(ours - theirs).max()))
        print(f"{len(paths)} recordings: largest difference to torchaudio {worst:.2g} dB")
        self.assertLess(worst, 0.01)


if __name__ == "__main__":
    unittest.main()
