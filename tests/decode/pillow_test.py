"""Compares decoded pixels with Pillow's, for every kind of JPEG, PNG and WebP that Pillow can write or read."""
import io
import pathlib
import struct
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent / "dump"))
import pipelines
from pipelines import Image, decode, difference, drawing, numpy, run

from PIL import ImageOps


def png(width, height, depth, color, rows, extra=b"", interlace=0):
    """Makes a PNG from packed rows; `extra` are chunks before the data."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace)
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    extra = b"".join(chunk(*part) for part in extra) if extra else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def interlaced(width, height, rows_of):
    """Adam7: the seven reduced pictures one after another; `rows_of` cuts one from ranges."""
    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    rows = []
    for top, left, down, right in passes:
        if left < width:
            rows += [rows_of(y, range(left, width, right)) for y in range(top, height, down)]
    return rows


class Decoded(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, data):
        path = pathlib.Path(self.folder.name, name)
        path.write_bytes(data)
        return path

    def saved(self, name, picture, format, **options):
        data = io.BytesIO()
        picture.save(data, format, **options)
        return self.path(name, data.getvalue())

    def compare(self, paths, modes=("rgb", "gray"), allowed=0):
        for mode in modes:
            for path, ours in zip(paths, run([decode(mode)], paths)):
                theirs = Image.open(path).convert({"rgb": "RGB", "gray": "L"}[mode])
                with self.subTest(path=path.name, mode=mode):
                    self.assertLessEqual(difference(ours, theirs), allowed)

    def test_photos_are_equal(self):
        self.compare(pipelines.photos(self.folder.name, 40))

    def test_jpegs_of_all_samplings_sizes_and_both_orders_are_equal(self):
        paths = []
        for size in ((1, 1), (1, 300), (300, 1), (17, 33), (64, 64), (251, 129)):
            for sampling in (0, 1, 2):
                for progressive in (False, True):
                    paths.append(self.saved(f"{size[0]}_{size[1]}_{sampling}_{progressive}.jpg", drawing(*size),
                                            "JPEG", subsampling=sampling, progressive=progressive, quality=85))
        self.compare(paths)

    def test_gray_and_cmyk_jpegs_are_equal(self):
        picture = drawing(123, 77)
        paths = [self.saved("gray.jpg", picture.convert("L"), "JPEG"),
                 self.saved("gray_progressive.jpg", picture.convert("L"), "JPEG", progressive=True)]
        ink = numpy.random.default_rng(3).integers(0, 256, (61, 83, 4)).astype(numpy.uint8)
        for name, cmyk in (("smooth", picture.convert("CMYK")), ("noise", Image.fromarray(ink, "CMYK"))):
            path = self.saved(f"{name}_cmyk.jpg", cmyk, "JPEG", quality=95)
            paths.append(path)
            paths += self.with_adobe_transform(path)
        self.compare(paths)

    def with_adobe_transform(self, path):
        """The same samples, marked as CMYK or as YCCK by an Adobe marker, or without a marker."""
        data = path.read_bytes()
        at = data.find(b"\xff\xee\x00\x0eAdobe")
        bare = data if at < 0 else data[:at] + data[at + 16:]
        made = [self.path(path.stem + "_bare.jpg", bare)]
        for transform, name in ((0, "adobe_cmyk"), (2, "adobe_ycck")):
            marker = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00" + bytes([transform])
            made.append(self.path(f"{path.stem}_{name}.jpg", bare[:2] + marker + bare[2:]))
        return made

    def test_pngs_written_by_pillow_are_equal(self):
        picture = drawing(75, 41)
        alpha = picture.copy()
        alpha.putalpha(drawing(75, 41, seed=5).convert("L"))
        pictures = {"rgb": picture, "gray": picture.convert("L"), "bit": picture.convert("1"),
                    "palette": picture.quantize(256), "palette16": picture.quantize(16),
                    "palette4": picture.quantize(4), "palette2": picture.quantize(2), "rgba": alpha,
                    "la": alpha.convert("LA"), "line": drawing(1, 90), "row": drawing(90, 1)}
        paths = [self.saved(f"{name}.png", value, "PNG") for name, value in pictures.items()]
        paths.append(self.saved("clear.png", picture.quantize(8), "PNG", transparency=3))
        paths.append(self.saved("clear_rgb.png", picture, "PNG", transparency=(1, 2, 3)))
        self.compare(paths)

    def test_pngs_of_all_depths_are_equal(self):
        random = numpy.random.default_rng(1)
        paths = []
        for color, channels, depths in ((0, 1, (1, 2, 4, 8)), (2, 3, (8, 16)), (4, 2, (8, 16)), (6, 4, (8, 16))):
            for depth in depths:
                rows = random.integers(0, 256, (19, (37 * channels * depth + 7) // 8)).astype(numpy.uint8)
                paths.append(self.path(f"{color}_{depth}.png", png(37, 19, depth, color, rows)))
        for depth in (1, 2, 4, 8):
            palette = random.integers(0, 256, 3 << depth).astype(numpy.uint8).tobytes()
            rows = random.integers(0, 256, (19, (37 * depth + 7) // 8)).astype(numpy.uint8)
            for chunks in ([(b"PLTE", palette)], [(b"PLTE", palette), (b"tRNS", b"\0\x80")]):
                paths.append(self.path(f"3_{depth}_{len(chunks)}.png", png(37, 19, depth, 3, rows, chunks)))
        self.compare(paths)

    def test_of_gray_pngs_of_16_bits_the_high_byte_is_taken(self):
        values = numpy.random.default_rng(2).integers(0, 65536, (9, 13))
        path = self.path("deep.png", png(13, 9, 16, 0, values.astype(">u2").view(numpy.uint8).reshape(9, 26)))
        for mode in ("rgb", "gray"):
            ours = run([decode(mode)], [path])[0]
            self.assertEqual(difference(ours[:, :, 0], values >> 8), 0)

    def test_interlaced_pngs_are_equal(self):
        paths = []
        for width, height in ((1, 1), (3, 2), (37, 19), (64, 64)):
            pixels = numpy.asarray(drawing(width, height))
            rows = interlaced(width, height, lambda y, xs: pixels[y, list(xs)].tobytes())
            paths.append(self.path(f"rgb{width}.png", png(width, height, 8, 2, rows, interlace=1)))
            rows = interlaced(width, height, lambda y, xs: pixels[y, list(xs), 0].tobytes())
            paths.append(self.path(f"gray{width}.png", png(width, height, 8, 0, rows, interlace=1)))
        self.compare(paths)

    def masks(self, paths, as_="mask", exif="false"):
        """The ids of files that are picture and mask at once, or the error's text."""
        steps = f"""decode {{ fields {{ key: "image" value {{ key: "png" as: "gray" exif: {exif} }} }}
          fields {{ key: "mask" value {{ key: "png" as: "{as_}" exif: {exif} }} }} }}"""
        return run([steps], paths, field="mask")

    def test_masks_have_the_numbers_that_are_stored(self):
        random = numpy.random.default_rng(3)
        paths, expected = [], []
        for color, depth in ((color, depth) for color in (0, 3) for depth in (1, 2, 4, 8)):
            rows = random.integers(0, 256, (19, (37 * depth + 7) // 8)).astype(numpy.uint8)
            palette = [(b"PLTE", random.integers(0, 256, 3 << depth).astype(numpy.uint8).tobytes()), (b"tRNS", b"\0")]
            paths.append(self.path(f"ids{color}_{depth}.png", png(37, 19, depth, color, rows, palette if color else ())))
            bits = numpy.unpackbits(rows, axis=1).reshape(19, -1, depth)
            expected.append((bits * (1 << numpy.arange(depth)[::-1])).sum(2)[:, :37])
        pixels = numpy.asarray(drawing(37, 19))[:, :, 0]
        rows = interlaced(37, 19, lambda y, xs: pixels[y, list(xs)].tobytes())
        paths.append(self.path("ids_interlaced.png", png(37, 19, 8, 0, rows, interlace=1)))
        for as_, dtype in (("mask", numpy.uint8), ("mask16", numpy.uint16)):
            for path, ours, theirs in zip(paths, self.masks(paths, as_), [*expected, pixels], strict=True):
                with self.subTest(path=path.name, as_=as_):
                    self.assertEqual(difference(ours, theirs), 0)
                    self.assertEqual(ours.dtype, dtype)

    def test_masks_of_16_bits_are_read_whole_or_refused(self):
        ids = numpy.random.default_rng(4).integers(0, 65536, (9, 13))
        path = self.path("deep.png", png(13, 9, 16, 0, ids.astype(">u2").view(numpy.uint8).reshape(9, 26)))
        self.assertEqual(difference(self.masks([path], "mask16")[0], ids), 0)
        self.assertIn("as: mask16", self.masks([path])[0])

    def test_masks_are_turned_and_other_files_are_refused(self):
        exif = Image.Exif()
        exif[0x0112] = 6
        path = self.saved("turned.png", drawing(53, 31).quantize(16), "PNG", exif=exif.tobytes())
        self.assertEqual(difference(self.masks([path], exif="true")[0], ImageOps.exif_transpose(Image.open(path))), 0)
        self.assertEqual(difference(self.masks([path])[0], Image.open(path)), 0)
        colours, photo = self.saved("c.png", drawing(5, 4), "PNG"), self.saved("j.png", drawing(5, 4), "JPEG")
        self.assertIn("has colours", self.masks([colours])[0])
        self.assertIn("no PNG file", self.masks([photo])[0])

    def test_all_orientations_are_turned_as_pillow_turns_them(self):
        paths = []
        for orientation in range(1, 9):
            exif = Image.Exif()
            exif[0x0112] = orientation
            paths.append(self.saved(f"turn{orientation}.jpg", drawing(53, 31), "JPEG", exif=exif))
            paths.append(self.saved(f"turn{orientation}.png", drawing(53, 31), "PNG", exif=exif.tobytes()))
        for path, turned, plain in zip(paths, run([decode(exif="true")], paths), run([decode()], paths)):
            with self.subTest(path=path.name):
                self.assertEqual(difference(turned, ImageOps.exif_transpose(Image.open(path))), 0)
                self.assertEqual(difference(plain, Image.open(path)), 0)

    def test_a_name_says_nothing_about_the_format(self):
        path = self.saved("really_a_png.jpg", drawing(20, 10), "PNG")
        self.compare([path])

    def test_other_formats_are_named(self):
        for format in ("GIF", "BMP", "TIFF"):
            path = self.saved("other.jpg", drawing(20, 10), format)
            self.assertIn(format.lower(), run([decode()], [path])[0].lower())

    def test_webps_are_equal(self):
        paths = []
        for lossless in (False, True):
            for size in ((1, 1), (17, 33), (251, 129)):
                name = f"{size[0]}_{lossless}"
                paths.append(self.saved(f"{name}.jpg", drawing(*size), "WEBP", lossless=lossless))
                alpha = drawing(*size).convert("RGBA")
                alpha.putalpha(drawing(*size, seed=1).convert("L"))
                paths.append(self.saved(f"{name}_alpha.jpg", alpha, "WEBP", lossless=lossless, exact=True))
        self.compare(paths)

    def test_webps_are_turned_and_animations_refused(self):
        paths = []
        for orientation in range(1, 9):
            exif = Image.Exif()
            exif[0x0112] = orientation
            paths.append(self.saved(f"{orientation}.jpg", drawing(53, 31), "WEBP", lossless=True, exif=exif.tobytes()))
        for path, turned in zip(paths, run([decode(exif="true")], paths)):
            self.assertEqual(difference(turned, ImageOps.exif_transpose(Image.open(path))), 0, path.name)
        path = self.saved("moves.jpg", drawing(20, 10), "WEBP", save_all=True, append_images=[drawing(20, 10, 1)])
        self.assertIn("animation", run([decode()], [path])[0])

    def test_fast_photos_are_those_that_pillow_makes_smaller_while_decoding(self):
        paths = [self.saved(f"{by}.jpg", drawing(64 * by, 48 * by), "JPEG", quality=90) for by in (2, 4, 8)]
        step = 'resize { field: "image" size: [37, 50] }'
        for by, path, ours in zip((2, 4, 8), paths, run([decode(fast="true"), step], paths)):
            picture = Image.open(path)
            picture.draft("RGB", (64, 48))
            self.assertEqual(picture.size, (64, 48))
            self.assertEqual(difference(ours, picture.resize((50, 37), Image.BILINEAR)), 0, by)


if __name__ == "__main__":
    unittest.main()
