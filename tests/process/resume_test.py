#!/usr/bin/env python3
"""A job that stops anywhere and resumes from its state, on a daemon with another number of threads, with another number of
ranks or another batch size, gets the same rows with the same values as a job that never stops.

The default is 40 resumes of 8 random configurations; ECHOLINE_RESUMES=500 sets their number. ECHOLINE_SEED=N repeats
them."""
import concurrent.futures
import contextlib
import os
import random
import time

from support import photos, sounds
from support.daemon_process import Daemon
from support.process_case import ProcessCase, main
from support.programs import require_library
from support.records import Records
from support.resume_configuration import Configuration, Epoch, rows_of

RESUMES = int(os.environ.get("ECHOLINE_RESUMES", 40))
SEED = int(os.environ.get("ECHOLINE_SEED", time.time_ns() % 1_000_000))
RESUMES_EACH = 5  # of a configuration
WORKERS = (1, 3)

require_library()

import echoline  # noqa: E402


class Undisturbed:
    """The epochs as one rank of a daemon with one worker reads them without a stop; read on demand."""

    def __init__(self, daemon, configuration):
        self._loader = echoline.Loader("train", "undisturbed", runtime_dir=daemon.runtime_dir)
        self._configuration, self._epochs = configuration, []

    def epoch(self, number):
        while len(self._epochs) <= number:
            self._epochs.append(Epoch([rows_of(batch) for batch in self._loader], self._configuration))
        return self._epochs[number]

    def close(self):
        self._loader.close()


class Ranks:
    """All ranks of a job in step, each with its own thread: a rank that left an epoch skips the rest of it in next(), and
    the others wait for it."""

    def __init__(self, daemon, size, world_size, state, later):
        """`later`: load the state into loaders that are already attached."""
        self.loaders = []
        self._threads = concurrent.futures.ThreadPoolExecutor(world_size)
        for rank in range(world_size):
            loader = echoline.Loader("train", "job", rank, world_size, batch_size=size, runtime_dir=daemon.runtime_dir,
                                     state=None if later else state)
            self.loaders.append(loader)
            if later and state is not None:
                loader.load_state_dict(state)
        self.begin_epoch()

    def begin_epoch(self):
        """Does what a `for` loop does first."""
        self._loops = [iter(loader) for loader in self.loaders]

    def next(self):
        """(epoch, rows of all ranks in order); None at an epoch's end."""
        parts = list(self._threads.map(lambda loop: next(loop, None), self._loops))
        if any(part is None for part in parts):
            assert parts == [None] * len(parts), "some ranks are at the epoch's end, others are not"
            self.begin_epoch()
            return None
        return parts[0].epoch, [row for part in parts for row in rows_of(part)]

    def state(self):
        states = [loader.state_dict() for loader in self.loaders]
        assert states == states[:1] * len(states), f"ranks in step have different states: {states}"
        return states[0]

    def close(self):
        for loader in self.loaders:
            loader.close()
        self._threads.shutdown()


class Resume(ProcessCase):
    @classmethod
    def setUpClass(cls):
        print(f"ECHOLINE_SEED={SEED} ECHOLINE_RESUMES={RESUMES}", flush=True)
        cls.random = random.Random(SEED)
        folder = cls.class_folder()
        photos.made_shards(folder, shards=3, records=51)
        records = Records(folder, count=211, ballast=(0, 100))
        sounds.made_shards(folder, shards=3, records=43)
        cls.data_sets = [(f"{folder}/photos-*.tar", "jpg", 153), (records.url, "u8", records.count),
                         (f"{folder}/sounds-*.tar", "wav", 129)]

    def test_a_stopped_job_continues_as_if_it_had_not_stopped(self):
        done = 0
        while done < RESUMES:
            self.configuration = Configuration.draw(self.random, self.data_sets)
            with contextlib.ExitStack() as open_ones:
                reference = open_ones.enter_context(self.daemon(1, self.reference_last()))
                self.daemons = [open_ones.enter_context(self.daemon(workers)) for workers in WORKERS]
                self.undisturbed = open_ones.enter_context(
                    contextlib.closing(Undisturbed(reference, self.configuration)))
                for _ in range(RESUMES_EACH):
                    self.resume_thrice()
                    done += 1
        print(f"{done} runs, each stopped twice or more", flush=True)

    def daemon(self, workers, last=None):
        return Daemon(self.configuration.yaml(last), workers=workers, memory="128MiB")

    def reference_last(self):
        """Under `drop` a job with another batch size reads rows that a job with the stream's own size drops."""
        by_rows = self.configuration.point != "batch" and self.configuration.last == "drop"
        return "partial" if by_rows else None

    def resume_thrice(self):
        """Runs from the beginning and from two states; may run twice from the same state."""
        place, state, history = (0, 0), None, []
        for _ in range(3):
            begin, begin_state = place, state
            place, state = self.run_from(begin, begin_state, history)
            if self.random.random() < 0.25:
                place, state = self.run_from(begin, begin_state, history)

    def run_from(self, place, state, history):
        """Reads some batches from `place`, an (epoch, row); the place and the state after them."""
        size, world_size = self.configuration.draw_job(self.random)
        daemon = self.random.choice(self.daemons)
        how = self.random.choice(["not at all", "some", "some", "to the end", "over the end", "break"])
        later = self.random.random() < 0.3
        history.append(f"from {place} as {world_size} ranks with batches of {size}, {how}, "
                       f"{WORKERS[self.daemons.index(daemon)]} workers{', state loaded later' if later else ''}")
        try:
            with contextlib.closing(Ranks(daemon, size, world_size, state, later)) as ranks:
                place = self.read_on(ranks, place, size, how)
                state = ranks.state()
            self.assertEqual((state["epoch"], state["row"]), place)
            return place, state
        except BaseException as error:
            error.add_note("\n".join([f"ECHOLINE_SEED={SEED}", str(self.configuration), *history]))
            raise

    def read_on(self, ranks, place, size, how):
        """The place after it."""
        coming = self.undisturbed.epoch(place[0]).batches(place[1], size)
        if not coming:  # what is left is less than a batch, under `drop`
            place = (place[0] + 1, 0)
            coming = self.undisturbed.epoch(place[0]).batches(0, size)
        count = {"not at all": 0, "to the end": len(coming), "over the end": len(coming)}.get(
            how, self.random.randint(1, min(6, len(coming))))
        place = self.read_batches(ranks, place, coming[:count], is_all=count == len(coming))
        if how == "over the end":
            self.assertIsNone(ranks.next(), "the epoch's end")
        elif how == "break":
            ranks.begin_epoch()
            place = (place[0] + 1, 0) if place[1] > 0 else place
        else:
            return place
        coming = self.undisturbed.epoch(place[0]).batches(0, size)
        return self.read_batches(ranks, place, coming[:2], is_all=len(coming) <= 2)

    def read_batches(self, ranks, place, expected, is_all):
        epoch, row = place
        for rows, row in expected:
            self.assertEqual(ranks.next(), (epoch, rows), f"before row {row}")
        return (epoch + 1, 0) if is_all else (epoch, row)


if __name__ == "__main__":
    main()
