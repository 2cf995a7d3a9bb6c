"""Changes of colours with Pillow."""
import numpy
from PIL import Image, ImageEnhance


def jitter(picture, changes):
    """torchvision's ColorJitter on a PIL image."""
    enhancers = {"brightness": ImageEnhance.Brightness, "contrast": ImageEnhance.Contrast,
                 "saturation": ImageEnhance.Color}
    for name, factor in changes:
        if name != "hue":
            picture = enhancers[name](picture).enhance(factor)
        elif picture.mode == "RGB":
            hue, saturation, value = picture.convert("HSV").split()
            turned = (numpy.asarray(hue).astype(int) + int(factor * 255)) % 256
            hue = Image.fromarray(turned.astype(numpy.uint8), "L")
            picture = Image.merge("HSV", (hue, saturation, value)).convert("RGB")
    return picture
