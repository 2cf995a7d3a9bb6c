"""The draws of the random steps, implemented a second time: Philox4x32-10 with a counter of sample, use, epoch and
step, and the algorithms of torchvision's transforms. Reproduces Echoline's crops in Python."""
import math


def philox(key, counter):
    mask = 0xFFFFFFFF
    key, counter = list(key), list(counter)
    for _ in range(10):
        product0, product1 = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(product1 >> 32) ^ counter[1] ^ key[0], product1 & mask,
                   (product0 >> 32) ^ counter[3] ^ key[1], product0 & mask]
        key = [(key[0] + 0x9E3779B9) & mask, (key[1] + 0xBB67AE85) & mask]
    return counter


class Draws:
    """Random numbers of one use of one sample in one step. `step` counts the pipeline's steps from 0,
    without read, cache, echo, batch and publish."""

    def __init__(self, seed, sample, epoch, use, step):
        self.key = (seed & 0xFFFFFFFF, seed >> 32)
        self.counter = [sample & 0xFFFFFFFF, (sample >> 32) << 16 | use, epoch, step << 24]
        self.words = []

    def word(self):
        if not self.words:
            self.words = philox(self.key, self.counter)
            self.counter[3] += 1
        return self.words.pop(0)

    def uniform(self, least=0.0, greatest=1.0):
        high = self.word()
        share = ((high << 32 | self.word()) >> 11) * 2.0 ** -53
        return least + (greatest - least) * share

    def below(self, bound):
        return self.word() * bound >> 32


def random_resized_crop(draws, height, width, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3)):
    """(top, left, height, width)"""
    for _ in range(10):
        area = height * width * draws.uniform(*scale)
        aspect = math.exp(draws.uniform(math.log(ratio[0]), math.log(ratio[1])))
        w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < w <= width and 0 < h <= height:
            top = draws.below(height - h + 1)
            return top, draws.below(width - w + 1), h, w
    w, h = width, height
    if width / height < ratio[0]:
        h = min(height, max(1, round(width / ratio[0])))
    elif width / height > ratio[1]:
        w = min(width, max(1, round(height * ratio[1])))
    return (height - h) // 2, (width - w) // 2, h, w


def random_crop(draws, height, width, crop_height, crop_width):
    """(top, left) in the padded picture"""
    top = draws.below(height - crop_height + 1) if height > crop_height else 0
    return top, draws.below(width - crop_width + 1) if width > crop_width else 0


def horizontal_flip(draws, probability=0.5):
    return draws.uniform() < probability


def cutout(draws, height, width, side):
    """(top, left, bottom, right)"""
    top = draws.below(height) - side // 2
    left = draws.below(width) - side // 2
    return max(top, 0), max(left, 0), min(top + side, height), min(left + side, width)


def color_jitter(draws, brightness=0.0, contrast=0.0, saturation=0.0, hue=0.0, probability=1.0):
    """Names in order of application, with their factors. The chance is drawn last."""
    names = ["brightness", "contrast", "saturation", "hue"]
    order = list(names)
    for i in (3, 2, 1):
        j = draws.below(i + 1)
        order[i], order[j] = order[j], order[i]
    amounts = dict(zip(names, (brightness, contrast, saturation, hue)))
    factors = {name: draws.uniform(max(0.0, 1 - amounts[name]), 1 + amounts[name]) for name in names[:3]}
    factors["hue"] = draws.uniform(-hue, hue)
    if not chance(draws, probability):
        return []
    return [(name, factors[name]) for name in order if amounts[name] > 0]


def audio_crop(draws, excess):
    """The first sample of a crop that is `excess` samples shorter than the audio."""
    return draws.below(excess + 1) if excess else 0


def decibels(draws, least, greatest, probability=1.0):
    """None where the step changes nothing."""
    return draws.uniform(least, greatest) if draws.uniform() < probability else None


def normal(draws, count):
    values = []
    while len(values) < count:
        length = math.sqrt(-2 * math.log(1 - (draws.word() >> 8) * 2.0 ** -24))
        angle = 2 * math.pi * (draws.word() >> 8) * 2.0 ** -24
        values += [length * math.cos(angle), length * math.sin(angle)]
    return values[:count]


def mask(draws, width, size):
    """(first, length)"""
    length = draws.below(width + 1)
    return draws.below(size - length + 1), length


def random_iou_crop(draws, height, width, boxes, scale=(0.3, 1.0), ratio=(0.5, 2.0),
                    overlaps=(0, 0.1, 0.3, 0.5, 0.7, 0.9, 1), tries=40):
    """(top, left, height, width); boxes are (left, top, right, bottom)"""
    for _ in range(50 if boxes else 0):
        overlap = overlaps[draws.below(len(overlaps))]
        if overlap >= 1:
            break
        for _ in range(tries):
            w, h = int(width * draws.uniform(*scale)), int(height * draws.uniform(*scale))
            if w == 0 or h == 0 or not ratio[0] <= w / h <= ratio[1]:
                continue
            left, top = int((width - w) * draws.uniform()), int((height - h) * draws.uniform())
            inside = [box for box in boxes
                      if left < (box[0] + box[2]) / 2 < left + w and top < (box[1] + box[3]) / 2 < top + h]
            if any(_overlap((left, top, left + w, top + h), box) >= overlap for box in inside):
                return top, left, h, w
    return 0, 0, height, width


def _overlap(a, b):
    both = max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))
    either = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)) - both
    return both / either if either > 0 else 0


def photometric_distort(draws, probability=0.5, brightness=(0.875, 1.125), contrast=(0.5, 1.5), saturation=(0.5, 1.5),
                        hue=(-0.05, 0.05)):
    """Names in order of application with their factors, and the permutation of the channels."""
    ranges = {"brightness": brightness, "contrast": contrast, "saturation": saturation, "hue": hue}
    drawn = {name: (draws.uniform() < probability, draws.uniform(*range_)) for name, range_ in ranges.items()}
    order = list(ranges)
    if draws.uniform() >= 0.5:
        order = ["brightness", "saturation", "hue", "contrast"]
    channels = [0, 1, 2]
    if draws.uniform() < probability:
        for i in (2, 1):
            j = draws.below(i + 1)
            channels[i], channels[j] = channels[j], channels[i]
    return [(name, drawn[name][1]) for name in order if drawn[name][0]], channels


def chance(draws, probability):
    return draws.uniform() < probability


def random_erasing(draws, height, width, probability=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3)):
    """(top, left, height, width), or None"""
    if not chance(draws, probability):
        return None
    for _ in range(10):
        area = height * width * draws.uniform(*scale)
        aspect = math.exp(draws.uniform(math.log(ratio[0]), math.log(ratio[1])))
        h, w = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if h < height and w < width:
            top = draws.below(height - h + 1)
            return top, draws.below(width - w + 1), h, w
    return None


def blur_sigma(draws, probability=1.0, sigma=(0.1, 2.0)):
    """None where the step changes nothing."""
    return draws.uniform(*sigma) if chance(draws, probability) else None
