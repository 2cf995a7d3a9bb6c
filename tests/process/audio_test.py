#!/usr/bin/env python3
"""Audio in batches: the samples of the files, the same draws at every echo point, and bad records with their reason."""
import collections
import contextlib
import io
import re
import wave

from support import sounds
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import require_library
from support.tars import write_tar

require_library()

import numpy  # noqa: E402
import echoline  # noqa: E402

DECODE = "decode: {audio: {key: wav, as: audio, rate: 8000, max_seconds: 1}, label: {key: cls, as: int64}}"
NOISE = "audio_noise: {field: audio, snr: [0, 20]}"
CROP = "audio_crop: {field: audio, seconds: 0.25, lengths: samples}"
LOG_MEL = "log_mel: {field: audio, n_fft: 256, hop: 128, n_mels: 8}"
MASK = "spec_augment: {field: audio, time_masks: 1, time_width: 5}"


def samples_of(content):
    with wave.open(io.BytesIO(content)) as file:
        return numpy.frombuffer(file.readframes(file.getnframes()), numpy.int16).astype(numpy.float32) / 32768


class Audio(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.url = f"{cls.class_folder()}/sounds-*.tar"
        sounds.made_shards(cls.url.rpartition("/")[0], shards=2, records=30)

    def batches(self, *steps, url=None, epochs=1, more=""):
        """The batches of a stream with these steps, each copied."""
        yaml = stream_yaml([f"read: {{url: '{url or self.url}'}}", "shuffle: {window: 20}", *steps,
                            "batch: {size: 6, last: partial}"], more=more)
        with Daemon(yaml, metrics=True) as daemon:
            with contextlib.closing(echoline.Loader("train", runtime_dir=daemon.runtime_dir)) as loader:
                found = [batch.copy() for _ in range(epochs) for batch in loader]
            self.reasons = {re.search(r'reason="(\w+)"', labels)[1]: count
                            for labels, count in daemon.metric_lines("echoline_records_bad_total").items() if count}
        return found

    def rows(self, *steps):
        """The field `audio` of each (epoch, sample id, use)."""
        return {(batch.epoch, int(sample), int(use)): batch["audio"][row].tobytes()
                for batch in self.batches(*steps, epochs=2)
                for row, (sample, use) in enumerate(zip(batch.sample_ids, batch.uses, strict=True))}

    def test_noise_from_files_is_added_and_belongs_to_the_fingerprint(self):
        file = self.folder() / "noise.wav"

        def write(level):
            with wave.open(str(file), "wb") as out:
                out.setparams((1, 2, 8000, 0, "NONE", ""))
                out.writeframes(numpy.full(500, level, numpy.int16).tobytes())

        write(8192)
        steps = [f"read: {{url: '{self.url}'}}", DECODE, f"audio_noise: {{field: audio, snr: [0, 20], files: '{file}'}}",
                 "batch: {size: 6}"]
        with Daemon(stream_yaml(steps)) as daemon:
            with contextlib.closing(echoline.Loader("train", runtime_dir=daemon.runtime_dir)) as loader:
                batch = next(iter(loader))
                for row, sample in enumerate(batch.sample_ids):
                    clean = samples_of(sounds.wav(int(sample)))
                    noise = batch["audio"][row] - clean
                    ratio = 10 * numpy.log10(numpy.mean(clean ** 2) / numpy.mean(noise ** 2))
                    self.assertTrue(-0.01 <= ratio <= 20.01, ratio)
                    numpy.testing.assert_allclose(noise, noise[0], atol=1e-6)
                state = loader.state_dict()
        write(4096)
        with Daemon(stream_yaml(steps)) as daemon, self.assertRaisesRegex(echoline.Error, "another pipeline"):
            echoline.Loader("train", runtime_dir=daemon.runtime_dir, state=state)

    def test_rows_of_any_length_have_the_samples_of_their_files(self):
        checked = 0
        for batch in self.batches(DECODE):
            for row, sample in enumerate(batch.sample_ids):
                numpy.testing.assert_array_equal(batch["audio"][row], samples_of(sounds.wav(int(sample))))
                checked += 1
        self.assertEqual(checked, 60)

    def test_a_crop_pads_and_says_how_many_samples_are_real(self):
        for batch in self.batches(DECODE, CROP):
            self.assertEqual(batch["audio"].shape[1:], (2000,))
            for audio, count, sample in zip(batch["audio"], batch["samples"], batch.sample_ids, strict=True):
                content = samples_of(sounds.wav(int(sample)))
                self.assertEqual(count, min(2000, len(content)))
                self.assertFalse(audio[count:].any())
                self.assertIn(audio[:count].tobytes(), content.tobytes())

    def test_each_echo_point_shares_the_draws_before_it_and_no_others(self):
        echo = "echo: {factor: 2, window: 30}"
        steps = [DECODE, NOISE, CROP, LOG_MEL, MASK]
        plain = self.rows(*steps)
        found = {point: self.rows(*steps[:point], echo, *steps[point:]) for point in range(len(steps) + 1)}
        first_uses = {key: row for key, row in found[0].items() if key[2] == 0}
        self.assertEqual(first_uses, plain)
        self.assertEqual(len(found[0]), 2 * len(plain))
        self.assertEqual(found[0], found[1], "an echo of records and one of decoded samples")
        contents = {}
        for point, rows in found.items():
            self.assertEqual(rows.keys(), found[0].keys())
            self.assertEqual({key: row for key, row in rows.items() if key[2] == 0}, plain)
            contents[point] = len(set(rows.values()))
        self.assertEqual(contents[0], 2 * len(plain))
        self.assertEqual(contents[5], len(plain), "after all steps, both uses are the same")
        # After the noise, uses differ by the crop; after the crop and the spectrogram, by the masks only.
        self.assertEqual(found[3], found[4])
        for one, other in ((1, 2), (2, 3), (4, 5)):
            self.assertNotEqual(found[one], found[other])

    def test_a_wrong_rate_too_long_or_damaged_audio_is_replaced_and_counted(self):
        folder = self.folder()
        good = {key: sounds.wav(key) for key in range(40)}
        bad = {40: sounds.wav(40, rate=16000), 41: sounds.wav(41, seconds=(2, 3)), 42: b"not audio at all"}
        write_tar(folder / "mixed.tar", [(f"{key:04d}.{extension}", content)
                                         for key, audio in {**good, **bad}.items()
                                         for extension, content in (("wav", audio), ("cls", b"1"))])
        batches = self.batches(DECODE, CROP, url=f"{folder}/mixed.tar", more="    bad_records: {limit: 50%}\n")
        counts = collections.Counter(int(sample) for batch in batches for sample in batch.sample_ids)
        self.assertEqual(sum(counts.values()), 43)
        self.assertLessEqual(counts.keys(), good.keys())
        self.assertEqual(self.reasons.keys(), {"corrupt", "too_large", "invalid"})


if __name__ == "__main__":
    main()
