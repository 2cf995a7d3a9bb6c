"""The draws of rand_augment, trivial_augment_wide and auto_augment, implemented a second time, and their operations
with Pillow, as torchvision.transforms.v2 makes them of PIL images."""
import math

import numpy
from PIL import Image, ImageEnhance, ImageOps

OPERATIONS = ("Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast",
              "Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize")
SIGNED = OPERATIONS[1:10]
# Pairs of operation:probability:magnitude.
POLICIES = {
    "imagenet": """
        Posterize:0.4:8+Rotate:0.6:9 Solarize:0.6:5+AutoContrast:0.6:0 Equalize:0.8:0+Equalize:0.6:0
        Posterize:0.6:7+Posterize:0.6:6 Equalize:0.4:0+Solarize:0.2:4 Equalize:0.4:0+Rotate:0.8:8
        Solarize:0.6:3+Equalize:0.6:0 Posterize:0.8:5+Equalize:1.0:0 Rotate:0.2:3+Solarize:0.6:8
        Equalize:0.6:0+Posterize:0.4:6 Rotate:0.8:8+Color:0.4:0 Rotate:0.4:9+Equalize:0.6:0
        Equalize:0.0:0+Equalize:0.8:0 Invert:0.6:0+Equalize:1.0:0 Color:0.6:4+Contrast:1.0:8 Rotate:0.8:8+Color:1.0:2
        Color:0.8:8+Solarize:0.8:7 Sharpness:0.4:7+Invert:0.6:0 ShearX:0.6:5+Equalize:1.0:0 Color:0.4:0+Equalize:0.6:0
        Equalize:0.4:0+Solarize:0.2:4 Solarize:0.6:5+AutoContrast:0.6:0 Invert:0.6:0+Equalize:1.0:0
        Color:0.6:4+Contrast:1.0:8 Equalize:0.8:0+Equalize:0.6:0""",
    "cifar10": """
        Invert:0.1:0+Contrast:0.2:6 Rotate:0.7:2+TranslateX:0.3:9 Sharpness:0.8:1+Sharpness:0.9:3
        ShearY:0.5:8+TranslateY:0.7:9 AutoContrast:0.5:0+Equalize:0.9:0 ShearY:0.2:7+Posterize:0.3:7
        Color:0.4:3+Brightness:0.6:7 Sharpness:0.3:9+Brightness:0.7:9 Equalize:0.6:0+Equalize:0.5:0
        Contrast:0.6:7+Sharpness:0.6:5 Color:0.7:7+TranslateX:0.5:8 Equalize:0.3:0+AutoContrast:0.4:0
        TranslateY:0.4:3+Sharpness:0.2:6 Brightness:0.9:6+Color:0.2:8 Solarize:0.5:2+Invert:0.0:0
        Equalize:0.2:0+AutoContrast:0.6:0 Equalize:0.2:0+Equalize:0.6:0 Color:0.9:9+Equalize:0.6:0
        AutoContrast:0.8:0+Solarize:0.2:8 Brightness:0.1:3+Color:0.7:0 Solarize:0.4:5+AutoContrast:0.9:0
        TranslateY:0.9:9+TranslateY:0.7:9 AutoContrast:0.9:0+Solarize:0.8:3 Equalize:0.8:0+Invert:0.1:0
        TranslateY:0.7:9+AutoContrast:0.9:0""",
    "svhn": """
        ShearX:0.9:4+Invert:0.2:0 ShearY:0.9:8+Invert:0.7:0 Equalize:0.6:0+Solarize:0.6:6 Invert:0.9:0+Equalize:0.6:0
        Equalize:0.6:0+Rotate:0.9:3 ShearX:0.9:4+AutoContrast:0.8:0 ShearY:0.9:8+Invert:0.4:0
        ShearY:0.9:5+Solarize:0.2:6 Invert:0.9:0+AutoContrast:0.8:0 Equalize:0.6:0+Rotate:0.9:3
        ShearX:0.9:4+Solarize:0.3:3 ShearY:0.8:8+Invert:0.7:0 Equalize:0.9:0+TranslateY:0.6:6
        Invert:0.9:0+Equalize:0.6:0 Contrast:0.3:3+Rotate:0.8:4 Invert:0.8:0+TranslateY:0.0:2
        ShearY:0.7:6+Solarize:0.4:8 Invert:0.6:0+Rotate:0.8:4 ShearY:0.3:7+TranslateX:0.9:3 ShearX:0.1:6+Invert:0.6:0
        Solarize:0.7:2+TranslateY:0.6:7 ShearY:0.8:4+Invert:0.8:0 ShearX:0.7:9+TranslateY:0.8:3
        ShearY:0.8:5+AutoContrast:0.7:0 ShearX:0.7:2+Invert:0.1:0""",
}


def linspace(first, last, index, bins):
    """torch.linspace in float32: from both ends to the middle, with one rounding."""
    first, last = numpy.float32(first), numpy.float32(last)
    step = float((last - first) / numpy.float32(bins - 1))
    if index < bins // 2:
        return float(numpy.float32(float(first) + step * index))
    return float(numpy.float32(float(last) - step * (bins - 1 - index)))


def magnitude(operation, index, bins, size, wide=False):
    """None for operations without one; `size` is (width, height)."""
    last = {"ShearX": 0.99 if wide else 0.3, "Rotate": 135.0 if wide else 30.0,
            "TranslateX": 32.0 if wide else 150.0 / 331.0 * size[0],
            "TranslateY": 32.0 if wide else 150.0 / 331.0 * size[1]}
    last["ShearY"] = last["ShearX"]
    if operation in SIGNED:
        return linspace(0.0, last.get(operation, 0.99 if wide else 0.9), index, bins)
    if operation == "Posterize":
        lost = numpy.float32(index) / numpy.float32((bins - 1) / (6 if wide else 4))
        return int(numpy.rint(numpy.float32(8) - lost))
    return linspace(1.0, 0.0, index, bins) if operation == "Solarize" else None


def signed(draws, operation, value):
    return -value if operation in SIGNED and draws.uniform() <= 0.5 else value


def rand_augment(draws, size, operations=2, index=9, bins=31):
    """(operation, magnitude) in their order"""
    made = []
    for _ in range(operations):
        operation = OPERATIONS[draws.below(14)]
        made.append((operation, signed(draws, operation, magnitude(operation, index, bins, size))))
    return made


def trivial_augment_wide(draws, size, bins=31):
    operation = OPERATIONS[draws.below(14)]
    has_one = operation in SIGNED or operation in ("Posterize", "Solarize")
    value = magnitude(operation, draws.below(bins), bins, size, wide=True) if has_one else None
    return [(operation, signed(draws, operation, value))]


def auto_augment(draws, size, policy="imagenet"):
    made = []
    for part in POLICIES[policy].split()[draws.below(25)].split("+"):
        operation, probability, index = part.split(":")
        if draws.uniform() <= float(probability):
            made.append((operation, signed(draws, operation, magnitude(operation, int(index), 10, size))))
    return made


def affine(picture, matrix, resample, fill):
    return picture.transform(picture.size, Image.AFFINE, matrix, resample, fillcolor=fill)


def apply(picture, operation, value, resample=Image.NEAREST, fill=0):
    """One operation on a PIL image; `fill` is a colour of its mode."""
    angle = math.radians(math.degrees(math.atan(value))) if operation.startswith("Shear") else 0
    functions = {
        "Identity": lambda: picture,
        "ShearX": lambda: affine(picture, (1, math.tan(angle), 0, 0, 1, 0), resample, fill),
        "ShearY": lambda: affine(picture, (1, 0, 0, math.sin(angle) / math.cos(angle), 1, 0), resample, fill),
        "TranslateX": lambda: affine(picture, (1, 0, -int(value), 0, 1, 0), resample, fill),
        "TranslateY": lambda: affine(picture, (1, 0, 0, 0, 1, -int(value)), resample, fill),
        "Rotate": lambda: picture.rotate(value, resample, fillcolor=fill),
        "Brightness": lambda: ImageEnhance.Brightness(picture).enhance(1.0 + value),
        "Color": lambda: ImageEnhance.Color(picture).enhance(1.0 + value),
        "Contrast": lambda: ImageEnhance.Contrast(picture).enhance(1.0 + value),
        "Sharpness": lambda: ImageEnhance.Sharpness(picture).enhance(1.0 + value),
        "Posterize": lambda: ImageOps.posterize(picture, int(value)),
        "Solarize": lambda: ImageOps.solarize(picture, 255.0 * value),
        "AutoContrast": lambda: ImageOps.autocontrast(picture),
        "Equalize": lambda: ImageOps.equalize(picture),
        "Invert": lambda: ImageOps.invert(picture),
    }
    return functions[operation]()


def apply_all(picture, changes, resample=Image.NEAREST, fill=0):
    for operation, value in changes:
        picture = apply(picture, operation, value, resample, fill)
    return picture


def gaussian_blur(picture, size, sigma):
    """torchvision's gaussian_blur, in double precision."""
    pixels = numpy.asarray(picture).astype(float)
    distances = numpy.arange(size) - size // 2
    weights = numpy.exp(-0.5 * (distances / sigma) ** 2)
    weights /= weights.sum()
    for axis in (0, 1):
        padding = [(size // 2, size // 2) if at == axis else (0, 0) for at in range(pixels.ndim)]
        padded = numpy.pad(pixels, padding, mode="reflect")
        pixels = sum(weight * numpy.take(padded, range(i, i + pixels.shape[axis]), axis)
                     for i, weight in enumerate(weights))
    return numpy.rint(pixels).astype(numpy.uint8)
