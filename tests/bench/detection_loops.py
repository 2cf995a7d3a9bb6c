"""A DataLoader with torchvision.transforms.v2 over a tar of pictures with Pascal VOC files, in this process alone.
    detection_loops.py pillow|tensor TAR EPOCHS
Prints the pictures and the CPU seconds after the first batch, as JSON."""
import io
import json
import os
import sys
import tarfile
import time
import xml.etree.ElementTree as ElementTree

import torch
from PIL import Image
from torchvision import tv_tensors
from torchvision.io import decode_jpeg
from torchvision.transforms import v2

CLASSES = {"RBC": 0, "WBC": 1, "Platelets": 2}
CORNERS = ("xmin", "ymin", "xmax", "ymax")


class Pictures(torch.utils.data.Dataset):
    def __init__(self, kind, path):
        self.tensor = kind == "tensor"
        with tarfile.open(path) as tar:
            contents = [tar.extractfile(member).read() for member in tar]
        self.records = list(zip(contents[::2], contents[1::2]))
        self.transform = v2.Compose([v2.RandomPhotometricDistort(), v2.RandomIoUCrop(), v2.Resize((300, 300), antialias=True),
                                     v2.RandomHorizontalFlip(), v2.SanitizeBoundingBoxes(), v2.ToImage()])

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        jpg, xml = self.records[index]
        if self.tensor:
            image = tv_tensors.Image(decode_jpeg(torch.frombuffer(bytearray(jpg), dtype=torch.uint8)))
            size = image.shape[-2:]
        else:
            image = Image.open(io.BytesIO(jpg)).convert("RGB")
            size = image.size[::-1]
        objects = ElementTree.fromstring(xml).findall("object")
        found = [[float(each.find(f"bndbox/{corner}").text) for corner in CORNERS] for each in objects]
        boxes = tv_tensors.BoundingBoxes(torch.tensor(found).reshape(-1, 4), format="XYXY", canvas_size=tuple(size))
        labels = torch.tensor([CLASSES[each.find("name").text] for each in objects], dtype=torch.int64)
        return self.transform(image, {"boxes": boxes, "labels": labels})


def collate(rows):
    return torch.stack([image for image, _ in rows]), [target for _, target in rows]


def main():
    torch.set_num_threads(1)
    kind, path, epochs = sys.argv[1:]
    loader = torch.utils.data.DataLoader(Pictures(kind, path), batch_size=28, shuffle=True, drop_last=True,
                                         collate_fn=collate)
    next(iter(loader))
    began, pictures = time.process_time(), 0
    for _ in range(int(epochs)):
        for images, _ in loader:
            pictures += len(images)
    print(json.dumps({"pictures": pictures, "cpu_seconds": time.process_time() - began}))
    sys.stdout.flush()
    os._exit(0)  # torch's threads take seconds to end


if __name__ == "__main__":
    main()
