"""The pictures of docs/transforms.md: what each step makes of the drawn landscape and the sound of scene.py. A daemon runs
the steps; here their results are only arranged."""
import contextlib
import pathlib
from typing import NamedTuple

import echoline
import numpy
import scene
from PIL import Image, ImageDraw, ImageFont
from support.tars import write_tar

DRAWS = 5  # records, all equal: each has draws of its own
SEED = 2
SCALE = 0.55  # of pictures
CELL = (176, 132)
GAP, TITLE, CAPTION = 10, 20, 17
COLORS = numpy.array([(255, 255, 255), (230, 30, 90), (20, 160, 255), (60, 200, 60)])  # by id; white: ignore


class Shown(NamedTuple):
    """What one pipeline makes, as one or several tiles."""
    step: str  # the title
    captions: list  # of each tile; each is another draw
    steps: list = []  # [(name, settings)]
    as_: str = "rgb"
    boxes: bool = False
    outputs: list = []  # fields of the tiles, where steps make new ones


def draws(step, count=DRAWS, caption="", boxes=False, **settings):
    told = ", ".join(f"{key}: {value}" for key, value in settings.items() if (key, value) != ("probability", 1))
    captions = [caption or told, *[""] * (count - 1)]
    return Shown(step, captions, [(step, settings)], boxes=boxes)


def each(step, *settings):
    """A tile for each of several settings."""
    return [draws(step, 1, **one) for one in settings]


JITTER = {"brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1}
ALWAYS = {"probability": 1}
MEL = ("log_mel", {"n_fft": 512, "hop": 160, "n_mels": 64, "log": "db", "top_db": 70})
VIEWS = {"global": {"size": 200, "count": 2, "scale": [0.4, 1]}, "local": {"size": 96, "count": 3, "scale": [0.05, 0.4]}}

# By name: the rows of a sheet.
SHEETS = {
    "crops": [
        [Shown("decode", ["as: rgb"]), Shown("", ["as: gray"], as_="gray"),
         *each("resize", {"size": 160}, {"size": [220, 160]}, {"size": 60})],
        [*each("center_crop", {"size": 180}, {"size": [280, 280]}), *each("letterbox", {"size": 240}, {"size": [120, 320], "fill": 0}),
         draws("horizontal_flip", 1, **ALWAYS)],
        [draws("random_crop", size=220, padding=40, fill=128)],
        [draws("random_resized_crop", size=220)],
        [Shown("multi_crop", ["global_0, size: 200", "global_1", "local_0, size: 96", "local_1", "local_2"],
               [("multi_crop", {"crops": VIEWS})],
               outputs=["global_0", "global_1", "local_0", "local_1", "local_2"])],
    ],
    "colors": [
        [draws("color_jitter", caption="brightness, contrast, saturation: 0.4, hue: 0.1", **JITTER)],
        [draws("photometric_distort", caption="the defaults")],
        [*each("gaussian_blur", {"size": 9, "sigma": [1.5, 1.5]}, {"size": 25, "sigma": [4, 4]}),
         *each("adjust_sharpness", {"factor": 0, **ALWAYS}, {"factor": 4, **ALWAYS}, {"factor": 16, **ALWAYS})],
        [*each("solarize", {"threshold": 192, **ALWAYS}, {"threshold": 96, **ALWAYS}),
         *each("posterize", {"bits": 3, **ALWAYS}, {"bits": 2, **ALWAYS}, {"bits": 1, **ALWAYS})],
        [draws(step, 1, **ALWAYS) for step in ("grayscale", "invert", "equalize", "autocontrast")],
        [Shown("normalize", ["float32, channel 0", "channel 1", "channel 2"],
               [("normalize", {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]})])],
    ],
    "recipes": [
        [draws("rand_augment", operations=2, magnitude=9)],
        [draws("trivial_augment_wide", caption="the defaults")],
        [draws("auto_augment", policy="imagenet")],
        [draws("random_erasing", 3, **ALWAYS, fill=[124, 116, 104]), draws("cutout", 2, size=80)],
    ],
    "boxes": [
        [Shown("decode", ["as: yolo_boxes, yolo_mask"], boxes=True),
         Shown("sanitize_boxes", ["min_size: 60"], [("sanitize_boxes", {"min_size": 60})], boxes=True),
         draws("letterbox", 1, boxes=True, size=240), draws("horizontal_flip", 1, boxes=True, **ALWAYS),
         draws("random_resized_crop", 1, boxes=True, size=240)],
        [Shown("random_iou_crop", ["then letterbox, size: [240, 320]", *[""] * (DRAWS - 1)],
               [("random_iou_crop", {}), ("letterbox", {"size": [240, 320]})], boxes=True)],
        [draws("rand_augment", boxes=True, operations=2, magnitude=15)],
    ],
    "audio": [
        [Shown("decode", ["as: audio, 1.5 s"], as_="audio"), draws("audio_crop", 2, seconds=1),
         draws("audio_gain", 2, db=[-12, 6])],
        [*each("audio_noise", {"snr": [20, 20]}, {"snr": [5, 5]}, {"snr": [-5, -5]}), *each("pad", {"length": 32000})],
        [Shown("log_mel", ["n_mels: 64"], [MEL]), Shown("mfcc", ["n_mfcc: 20"], [MEL, ("mfcc", {"n_mfcc": 20})]),
         Shown("spec_augment", ["two masks over frames, two over frequencies", "", ""],
               [MEL, ("spec_augment", {"time_masks": 2, "time_width": 25, "frequency_masks": 2, "frequency_width": 12})])],
    ],
}
SHEETS["audio"] = [[one._replace(as_="audio") for one in row] for row in SHEETS["audio"]]


def decoded(number, one):
    """The fields of a Shown, as settings of `decode`."""
    if one.as_ == "audio":
        return {f"f{number}": {"key": "wav", "as": "audio", "rate": scene.RATE, "max_seconds": 2}}
    fields = {f"f{number}": {"key": "png", "as": one.as_}}
    if one.boxes:
        fields |= {f"mask{number}": {"key": "txt", "as": "yolo_mask", "of": f"f{number}"},
                   f"boxes{number}": {"key": "txt", "as": "yolo_boxes", "of": f"f{number}"},
                   f"labels{number}": {"key": "txt", "as": "yolo_labels", "of": f"boxes{number}"}}
    return fields


def stream(shown, data):
    fields, steps = {}, []
    for number, one in enumerate(shown):
        fields |= decoded(number, one)
        for step, settings in one.steps:
            field = f"boxes{number}" if step == "sanitize_boxes" else f"f{number}"
            steps.append({step: {"field": field, **settings}})
    return {"seed": SEED, "pipeline": [{"read": {"url": str(data)}}, {"decode": fields}, *steps,
                                       {"batch": {"size": DRAWS}}, {"publish": {"slots": 2}}]}


def painted(pixels):
    """A tile of a picture."""
    if pixels.dtype == numpy.float32:  # after normalize
        pixels = numpy.clip((pixels + 2.2) / 4.9 * 255, 0, 255).astype(numpy.uint8)
    picture = Image.fromarray(pixels[:, :, 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels).convert("RGB")
    factor = min(SCALE, CELL[0] / picture.width, CELL[1] / picture.height)
    return picture.resize([max(1, round(side * factor)) for side in picture.size], Image.LANCZOS)


def with_boxes(pixels, mask, boxes, labels):
    ids = numpy.where(mask > 3, 0, mask)
    shade = numpy.where(((ids > 0) | (mask > 3))[:, :, None], 0.4, 0)
    tile = painted((pixels * (1 - shade) + COLORS[ids] * shade).astype(numpy.uint8))
    factor = tile.width / pixels.shape[1]
    draw = ImageDraw.Draw(tile)
    for box, label in zip(boxes, labels):
        left, top, right, bottom = (int(at * factor) for at in box)
        draw.rectangle([left, top, max(left, right - 1), max(top, bottom - 1)], width=2, outline=tuple(COLORS[label + 1]))
    return tile


def waveform(samples):
    width, height = CELL[0], 90
    used = round(samples.size / (2 * scene.RATE) * width)
    tile = Image.new("RGB", (used, height), "white")
    draw = ImageDraw.Draw(tile)
    for x, part in enumerate(numpy.array_split(samples, used)):
        low, high = (height / 2 - height / 2 * numpy.clip(at, -1, 1) for at in (part.max(), part.min()))
        draw.line([x, low, x, high], fill=(32, 110, 180))
    return tile


def spectrogram(values, each=False):
    """Frames from left to right, low frequencies below. `each`: every row of the picture has colours of its own."""
    if each:
        values = numpy.clip((values - values.mean(0)) / (values.std(0) + 1e-6), -2, 2)
    anchors = numpy.array([(13, 8, 60), (90, 24, 126), (190, 55, 100), (248, 140, 40), (252, 246, 170)], float)
    share = (values - values.min()) / max(float(numpy.ptp(values)), 1e-6) * (len(anchors) - 1)
    pixels = numpy.stack([numpy.interp(share.T[::-1], range(len(anchors)), anchors[:, c]) for c in range(3)], 2)
    return Image.fromarray(pixels.astype(numpy.uint8), "RGB").resize((CELL[0], 90), Image.NEAREST)


def tile_of(batch, number, one, place):
    row = place if not one.outputs else 0
    field = batch[one.outputs[place] if one.outputs else f"f{number}"]
    if one.step == "normalize":
        return painted(field[0][place])
    if one.boxes:
        return with_boxes(field[row], *(batch[f"{name}{number}"][row] for name in ("mask", "boxes", "labels")))
    if one.as_ == "audio":
        made = numpy.asarray(field[row])
        return waveform(made) if made.ndim == 1 else spectrogram(made, one.step == "mfcc")
    return painted(field[row])


class Placed(NamedTuple):
    tile: Image.Image
    left: int
    top: int


def fonts():
    for name in ("DejaVuSans-Bold.ttf", "DejaVuSans.ttf"):
        try:
            yield ImageFont.truetype(name, 12 if "Bold" in name else 11)
        except OSError:
            yield ImageFont.load_default()


def arranged(rows, batch):
    """The sheet, and where its tiles are."""
    numbers = iter(range(1000))
    tiles = [[(one, number, [tile_of(batch, number, one, place) for place in range(len(one.captions))])
              for one, number in zip(row, numbers)] for row in rows]
    height = max(tile.height for row in tiles for _, _, made in row for tile in made)
    sheet = Image.new("RGB", (GAP + DRAWS * (CELL[0] + GAP), GAP + len(rows) * (TITLE + height + CAPTION + GAP)), "white")
    draw, (bold, plain), placed = ImageDraw.Draw(sheet), fonts(), []
    for i, row in enumerate(tiles):
        top, column, before = GAP + i * (TITLE + height + CAPTION + GAP), 0, None
        for one, _, made in row:
            for caption, tile in zip(one.captions, made):
                left = GAP + column * (CELL[0] + GAP)
                if one.step and one.step != before:
                    draw.text((left, top), one.step, (20, 40, 70), bold)
                draw.rectangle([left, top + TITLE, left + CELL[0] - 1, top + TITLE + height - 1], fill=(240, 242, 245))
                inside = 0 if one.as_ == "audio" else (CELL[0] - tile.width) // 2  # time begins at the left
                placed.append(Placed(tile, left + inside, top + TITLE + (height - tile.height) // 2))
                sheet.paste(tile, placed[-1][1:])
                draw.text((left, top + TITLE + height + 2), caption, (90, 98, 110), plain)
                before, column = one.step or before, column + 1
    return sheet, placed


def make(folder):
    """By name: the sheet and its tiles. `folder` is for the data."""
    data = pathlib.Path(folder, "scene.tar")
    png = pathlib.Path(folder, "scene.png")
    scene.picture().save(png)
    write_tar(data, [(f"{i}.{kind}", content) for i in range(DRAWS) for kind, content in
                     (("png", png.read_bytes()), ("txt", scene.yolo().encode()), ("wav", scene.sound()))])
    streams = {name: stream([one for row in rows for one in row], data) for name, rows in SHEETS.items()}
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(echoline.serve({"daemon": {"memory": "512MiB"}, "streams": streams}))
        return {name: arranged(rows, stack.enter_context(daemon.loader(name)).next(timeout=60))
                for name, rows in SHEETS.items()}
