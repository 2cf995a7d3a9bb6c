#!/usr/bin/env python3
"""What a trainer in Python gets: read-only views of the daemon's shared memory, without a copy, with the pixels that a
Pillow script computes from the same record, crop and flip.

The crop and the flip come from a second implementation of the draws (tests/augment/draws.py); the record of a row comes
from the order of the tars' members."""
import collections
import contextlib
import ctypes
import io
import mmap
import os
import signal
import sys
import traceback
import tracemalloc

from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.photos import Image, numpy
from support.process_case import ProcessCase, main
from support.programs import skip

import draws  # of tests/augment

try:
    import echoline
except (ImportError, OSError) as missing:
    skip(f"the Python package: {missing}")

SEED = 7
HEIGHT, WIDTH = 128, 160
SLOTS = 4
CROP_STEP, FLIP_STEP = 2, 3  # steps are counted without read, cache, echo, batch and publish: shuffle, decode, these
# Two builds of a JPEG decoder may differ by this; resizing adds only rounding.
ALLOWED = 1


def mapping_of(address):
    """(begin, end, rights, file) of the mapping that contains the address; None if there is none."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        for line in maps:
            begin, end = (int(number, 16) for number in line.split()[0].split("-"))
            if begin <= address < end:
                return begin, end, line.split()[1], line.rstrip("\n").split(None, 5)[-1]
    return None


def death_of_child(act):
    """The number of the signal that ends a forked child which calls act(); 0 if the child survives."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        try:
            act()
        except BaseException:  # the child must never reach the test runner
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else -os.WEXITSTATUS(status)


class TrainerPixels(ProcessCase):
    @classmethod
    def setUpClass(cls):
        paths = photos.shards(cls.class_folder())
        cls.records = photos.records(paths)
        urls = ", ".join(f"'{path}'" for path in paths)
        read = [f"read: {{url: [{urls}]}}", "shuffle: {window: 50}",
                "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}"]
        echo = "echo: {factor: 2, window: 40}"
        crop = f"random_resized_crop: {{field: image, size: [{HEIGHT}, {WIDTH}]}}"
        flip = "horizontal_flip: {field: image}"
        batch = ["batch: {size: 8, last: partial}", f"publish: {{slots: {SLOTS}}}"]
        cls.daemon = cls.enterClassContext(Daemon(stream_yaml([*read, echo, crop, flip, *batch], seed=SEED)))
        cls.between = stream_yaml([*read, crop, echo, flip, *batch], seed=SEED)

    def loader(self, daemon=None, **options):
        runtime_dir = (daemon or self.daemon).runtime_dir
        loader = echoline.Loader("train", runtime_dir=runtime_dir, job=self.id(), **options)
        self.addCleanup(loader.close)
        return loader

    def expected(self, sample, crop_use, use, epoch):
        """The image that Pillow makes from the record, the crop of use `crop_use` and the flip of `use`."""
        picture = Image.open(io.BytesIO(self.records[sample][0])).convert("RGB")
        crop = draws.Draws(SEED, sample, epoch, crop_use, CROP_STEP)
        top, left, height, width = draws.random_resized_crop(crop, picture.height, picture.width)
        picture = picture.crop((left, top, left + width, top + height)).resize((WIDTH, HEIGHT), Image.BILINEAR)
        if draws.horizontal_flip(draws.Draws(SEED, sample, epoch, use, FLIP_STEP)):
            picture = picture.transpose(Image.FLIP_LEFT_RIGHT)
        return numpy.asarray(picture).astype(int)

    def test_pixels_equal_pillows_of_the_same_record_crop_and_flip(self):
        differences = collections.Counter()
        loader = self.loader()
        for _ in range(2):
            for batch in loader:
                rows = zip(batch.sample_ids, batch.uses, batch["image"], batch["label"], strict=True)
                for sample, use, image, label in rows:
                    self.assertEqual(label, self.records[sample][1])
                    made = self.expected(int(sample), int(use), int(use), batch.epoch)
                    differences[int(numpy.abs(image - made).max())] += 1
                if batch.step >= 20:
                    break
        print(f"largest difference of a picture: {dict(sorted(differences.items()))}", flush=True)
        self.assertGreaterEqual(sum(differences.values()), 2 * 15 * 8)
        self.assertLessEqual(max(differences), ALLOWED)

    def test_uses_share_the_draws_before_an_echo_between_augmentations(self):
        with Daemon(self.between) as daemon:
            later_uses = 0
            for batch in self.loader(daemon):
                for sample, use, image in zip(batch.sample_ids, batch.uses, batch["image"], strict=True):
                    made = self.expected(int(sample), 0, int(use), batch.epoch)
                    self.assertLessEqual(int(numpy.abs(image - made).max()), ALLOWED, f"sample {sample}, use {use}")
                    later_uses += int(use > 0)
                if batch.step >= 15:
                    break
            self.assertGreater(later_uses, 20)

    def test_views_lie_inside_the_mapping_of_the_daemons_memory(self):
        loader = self.loader()
        seen = set()
        for batch in loader:
            for array in (batch["image"], batch["label"], batch.sample_ids, batch.uses, batch.flags):
                begin, end, rights, name = mapping_of(array.ctypes.data)
                self.assertIn("memfd:", name)
                self.assertEqual(rights, "r--s", "shared, and only to be read")
                self.assertLessEqual(array.ctypes.data + array.nbytes, self.contiguous_end(begin, name))
                self.assertFalse(array.flags.owndata)
                self.assertTrue(array.flags.c_contiguous)
            self.assertEqual(batch["image"].shape, (batch.rows, HEIGHT, WIDTH, 3))
            self.assertEqual(batch["image"].dtype, numpy.uint8)
            seen.add(batch["image"].ctypes.data)
        # The addresses come round: so many slots, mapped twice back to back.
        self.assertLessEqual(len(seen), 2 * SLOTS)

    def contiguous_end(self, begin, name):
        """The mapping's end, and that of its second copy behind it."""
        end = begin
        while (found := mapping_of(end)) is not None and found[3] == name:
            end = found[1]
        return end

    def test_the_memory_is_the_daemons_own(self):
        loader = self.loader()
        batch = loader.next()
        inode = self.inode_of("/proc/self/maps", batch["image"].ctypes.data)
        with open(f"/proc/{self.daemon.process.pid}/maps", encoding="ascii", errors="replace") as maps:
            self.assertIn(inode, {line.split()[4] for line in maps if "memfd:" in line})

    def inode_of(self, maps, address):
        with open(maps, encoding="ascii", errors="replace") as lines:
            for line in lines:
                begin, end = (int(number, 16) for number in line.split()[0].split("-"))
                if begin <= address < end:
                    return line.split()[4]
        return None

    def test_taking_a_batch_allocates_no_memory_for_pixels(self):
        loader = self.loader()
        loader.next()
        tracemalloc.start()  # also counts numpy's buffers
        self.addCleanup(tracemalloc.stop)
        for _ in range(8):
            batch = loader.next()
            self.assertGreater(batch["image"].nbytes, 400_000)
            batch["label"], batch.sample_ids
        _, peak = tracemalloc.get_traced_memory()
        self.assertLess(peak, 100_000)

    def test_assignments_raise(self):
        batch = self.loader().next()
        for array in (batch["image"], batch["label"], batch.sample_ids, batch.uses, batch["image"][1:, ::2]):
            with self.assertRaises(ValueError):
                array[0] = 0
            with self.assertRaises(ValueError):
                array.flags.writeable = True
        with self.assertRaises(TypeError):
            ctypes.c_char.from_buffer(batch["image"])
        with self.assertRaises(TypeError):
            batch["image"] = 0

    def test_a_write_to_the_address_kills_only_the_writer(self):
        """The child attaches: it cannot test what it inherits, because a fork unmaps that on purpose, which would fault too."""
        before = self.loader().next()
        kept = before["image"].copy()

        def write():
            with echoline.Loader("train", runtime_dir=self.daemon.runtime_dir, job="writer") as loader:
                batch = loader.next()
                address = batch["image"].ctypes.data
                if bytes(batch["image"][0, 0, 0]) != ctypes.string_at(address, 3):
                    os._exit(3)
                ctypes.memset(address, 1, 1)

        self.assertEqual(death_of_child(write), signal.SIGSEGV)
        self.assertTrue((before["image"] == kept).all())

    def test_no_process_can_map_the_memory_writable_after_trainers_have_it(self):
        batch = self.loader().next()
        address = batch["image"].ctypes.data
        libc = ctypes.CDLL(None, use_errno=True)
        page = address & ~(mmap.PAGESIZE - 1)
        writable = mmap.PROT_READ | mmap.PROT_WRITE
        self.assertEqual(libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(mmap.PAGESIZE), writable), -1)
        # The daemon's own user cannot open it again for writing either.
        with open(self.path_of_memory(self.inode_of("/proc/self/maps", address)), "r+b", buffering=0) as memory:
            with self.assertRaises(PermissionError):
                mmap.mmap(memory.fileno(), mmap.PAGESIZE, flags=mmap.MAP_SHARED, prot=writable)
            with self.assertRaises(PermissionError):
                memory.write(b"x")
            with self.assertRaises(PermissionError):
                memory.truncate(0)

    def path_of_memory(self, inode):
        """A path of the memory file: the daemon's descriptor."""
        folder = f"/proc/{self.daemon.process.pid}/fd"
        try:
            names = os.listdir(folder)
        except PermissionError as error:
            self.skipTest(f"may not look into the daemon: {error}")
        for name in names:
            with contextlib.suppress(OSError):
                if str(os.stat(f"{folder}/{name}").st_ino) == inode:
                    return f"{folder}/{name}"
        self.skipTest("the daemon keeps no descriptor of its memory: nobody can open it again")
        return None

    def test_a_held_batch_is_never_overwritten(self):
        loader = self.loader()
        held = loader.next()["image"]
        copy = held.copy()
        with self.assertRaises(echoline.LeaseHeld):
            for _ in range(2 * SLOTS):
                loader.next()
        self.assertTrue((held == copy).all())
        del held
        loader.next()


if __name__ == "__main__":
    main()
