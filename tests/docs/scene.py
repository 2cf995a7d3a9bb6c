"""What docs/transforms.md shows the steps on: a drawn landscape, with the outlines of its objects, and a sound like
speech. Made of formulas, so no file of anybody is needed."""
import io
import wave

import numpy
from PIL import Image, ImageDraw

WIDTH, HEIGHT = 320, 240
RATE = 16000
NAMES = ("balloon", "boat", "house")
_FINE = 3  # pixels that one is the mean of, along each side


def _curve(x, seed, height, roughness):
    """A ridge, in shares of the picture's height."""
    waves = numpy.random.default_rng(seed).uniform(0, 7, (9, 2))
    return height + sum(roughness / k ** 1.1 * numpy.sin(2 * numpy.pi * k * (x + a)) * numpy.cos(b)
                        for k, (a, b) in enumerate(waves, 1))


def _mix(share, a, b):
    return a + numpy.clip(share, 0, 1)[..., None] * (numpy.array(b, float) - a)


def _land(y, x):
    """Sky, sun, mountains and a lake, as float [height, width, 3]."""
    sky = _mix(y / 0.62, numpy.array([44.0, 112, 196]) * numpy.ones((*y.shape, 3)), [255, 208, 150])
    distance = numpy.hypot((x - 0.7) * 4 / 3, y - 0.42)
    sky = _mix(0.75 * numpy.exp(-distance / 0.13), sky, [255, 240, 190])
    sky = _mix((0.062 - distance) * 400, sky, [255, 250, 226])
    shore = 0.66
    for ridge, color, haze in ((_curve(x, 5, 0.47, 0.075), [121, 125, 166], [226, 182, 160]),
                               (_curve(x, 8, 0.55, 0.055), [72, 92, 120], [126, 132, 146]),
                               (_curve(x, 2, 0.62, 0.022), [34, 66, 58], [60, 94, 66])):
        ground = _mix((y - ridge) / (shore - ridge + 1e-3), numpy.ones((*y.shape, 3)) * color, haze)
        sky = _mix((y - ridge) * HEIGHT * _FINE, sky, ground)
    row = numpy.clip(2 * shore - y[:, 0], 0, shore)  # of what is mirrored
    waves = 0.004 * numpy.sin(260 * (y - shore) / (y + 0.4)) * (y - shore) * 8
    rows = numpy.clip(((row[:, None] + waves) * y.shape[0]).astype(int), 0, y.shape[0] - 1)
    columns = numpy.broadcast_to(numpy.arange(x.shape[1]), x.shape)
    lake = _mix(0.25 + (y - shore) * 1.3, sky[rows, columns], [24, 60, 92])
    return _mix((y - shore) * HEIGHT * _FINE, sky, lake)


def _balloon():
    turn = numpy.linspace(0, 2 * numpy.pi, 60, endpoint=False)
    lower = numpy.clip(numpy.sin(turn), 0, 1)
    return numpy.stack([88 + 42 * numpy.cos(turn) * (1 - 0.3 * lower ** 3), 66 + 44 * numpy.sin(turn) + 12 * lower ** 2], 1)


# Outlines by class, in pixels of the picture.
_OUTLINES = (
    (0, [*_balloon()[:13], (97, 131), (97, 143), (79, 143), (79, 131), *_balloon()[18:]]),
    (1, [(196, 196), (225, 196), (225, 190), (198, 190), (222, 136), (225, 136), (225, 126), (228, 126), (262, 190),
         (228, 190), (228, 196), (268, 196), (256, 211), (208, 211)]),
    (2, [(20, 190), (20, 168), (14, 168), (38, 147), (48, 156), (48, 149), (54, 149), (54, 161), (62, 168), (56, 168),
         (56, 190)]),
)


def _paint(draw, points, color):
    draw.polygon([(x * _FINE, y * _FINE) for x, y in points], fill=color)


def _objects(picture):
    draw = ImageDraw.Draw(picture)
    meadow = 1 / (1 + numpy.exp((numpy.arange(0, 190, 2) - 118) / 16))
    _paint(draw, [(0, HEIGHT), *zip(numpy.arange(0, 190, 2), 241 - 57 * meadow)], (74, 110, 62))
    _paint(draw, [(0, HEIGHT), *zip(numpy.arange(0, 130, 2), 243 - 30 * meadow[:65] ** 2)], (96, 132, 70))
    edge = _balloon()
    _paint(draw, edge, (214, 58, 48))
    for shrink, color in ((0.72, (246, 196, 68)), (0.38, (214, 58, 48)), (0.13, (246, 196, 68))):
        _paint(draw, numpy.stack([88 + (edge[:, 0] - 88) * shrink, edge[:, 1]], 1), color)
    for top, low in ((76, 80), (88, 88), (100, 96)):
        draw.line([(top * _FINE, 119 * _FINE), (low * _FINE, 132 * _FINE)], fill=(70, 50, 40), width=2)
    _paint(draw, [(79, 131), (97, 131), (97, 143), (79, 143)], (120, 78, 44))
    _paint(draw, [(79, 134), (97, 134), (97, 136), (79, 136)], (160, 112, 66))
    _paint(draw, [(226, 128), (262, 190), (228, 190)], (250, 248, 240))
    _paint(draw, [(232, 155), (248, 166), (254, 176), (231, 168)], (228, 120, 40))
    _paint(draw, [(225, 126), (228, 126), (228, 198), (225, 198)], (90, 60, 40))
    _paint(draw, [(222, 136), (222, 190), (198, 190)], (236, 228, 214))
    _paint(draw, [(196, 196), (268, 196), (256, 211), (208, 211)], (150, 40, 44))
    _paint(draw, [(200, 201), (264, 201), (262, 204), (202, 204)], (244, 240, 230))
    _paint(draw, [(20, 166), (56, 166), (56, 190), (20, 190)], (232, 214, 180))
    _paint(draw, [(14, 168), (38, 147), (62, 168)], (146, 66, 48))
    _paint(draw, [(48, 149), (54, 149), (54, 162), (48, 157)], (110, 60, 50))
    for left in (25, 42):
        _paint(draw, [(left, 171), (left + 9, 171), (left + 9, 180), (left, 180)], (88, 132, 168))


def picture():
    """The landscape, RGB."""
    y, x = (numpy.mgrid[0:HEIGHT * _FINE, 0:WIDTH * _FINE] + 0.5) / numpy.array([HEIGHT, WIDTH]).reshape(2, 1, 1) / _FINE
    land = Image.fromarray(numpy.clip(_land(y, x), 0, 255).astype(numpy.uint8), "RGB")
    _objects(land)
    pixels = numpy.asarray(land, float).reshape(HEIGHT, _FINE, WIDTH, _FINE, 3).mean((1, 3))
    pixels += numpy.random.default_rng(1).normal(0, 2.2, (HEIGHT, WIDTH, 1))  # grain
    return Image.fromarray(numpy.clip(pixels, 0, 255).astype(numpy.uint8), "RGB")


def yolo():
    """The objects as lines of YOLO."""
    return "".join(f"{label} " + " ".join(f"{x / WIDTH:.6f} {y / HEIGHT:.6f}" for x, y in points) + "\n"
                   for label, points in _OUTLINES)


def sound():
    """1.5 seconds of four syllables, as the bytes of a WAV file."""
    time = numpy.arange(int(1.5 * RATE)) / RATE
    pitch = 130 + 35 * numpy.sin(2 * numpy.pi * 0.7 * time) - 20 * time
    turn = 2 * numpy.pi * numpy.cumsum(pitch) / RATE
    made = numpy.zeros(time.size)
    syllables = ((0.08, 0.30, 730, 1090), (0.42, 0.24, 300, 2300), (0.74, 0.30, 520, 1850), (1.12, 0.28, 350, 900))
    for begin, length, *formants in syllables:
        share = (time - begin) / length
        envelope = numpy.where((share > 0) & (share < 1), numpy.sin(numpy.pi * numpy.clip(share, 0, 1)) ** 0.6, 0)
        for harmonic in range(1, 40):
            hertz = harmonic * pitch
            weight = sum(numpy.exp(-((hertz - formant * (1 + 0.12 * share)) / 170) ** 2) for formant in formants)
            made += envelope * (weight + 0.04 / harmonic) * numpy.sin(harmonic * turn)
    hiss = numpy.random.default_rng(3).normal(0, 0.35, time.size)
    made += numpy.diff(hiss, prepend=0) * numpy.exp(-((time - 0.40) / 0.03) ** 2)
    made += numpy.random.default_rng(4).normal(0, 0.002, time.size)
    stored = io.BytesIO()
    with wave.open(stored, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((made / abs(made).max() * 0.55 * 32767).astype("<i2").tobytes())
    return stored.getvalue()
