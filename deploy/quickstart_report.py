#!/usr/bin/env python3
"""Summarises the runs of quickstart.sh: a table on stdout, and a picture of accuracy over time as SVG."""

import argparse
import csv
import json
import pathlib
import statistics
import sys

LABELS = {"none": "no echo", "echo": "echo 4, before augmentation"}
COLOURS = {"none": "#b4552d", "echo": "#1f6f8b"}


class Run:
    """One training: its summary, and its evaluations on the test set during training."""

    def __init__(self, summary_path):
        self.kind, self.seed = summary_path.stem.split("-")
        self.summary = json.loads(summary_path.read_text())
        self.stream = json.loads(summary_path.with_suffix(".stream").read_text())
        with open(summary_path.with_suffix(".csv"), newline="", encoding="utf-8") as file:
            self.evaluations = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def mean(runs, value):
    return statistics.fmean(value(run.summary) for run in runs)


def figures(runs):
    return {
        "seconds": mean(runs, lambda s: s["seconds"]),
        "first_batch_seconds": mean(runs, lambda s: s["first_batch_seconds"]),
        "fresh_images": mean(runs, lambda s: s["fresh_images"]),
        "images": mean(runs, lambda s: s["images"]),
        "stall_share": mean(runs, lambda s: s["stall_share"]),
        "uses_per_fresh": mean(runs, lambda s: s["images"] / s["fresh_images"]),
        "busy_seconds_per_batch": mean(
            runs, lambda s: (s["training_seconds"] - s["wait_seconds"]) / s["batches"]),
        "seconds_per_batch": mean(runs, lambda s: s["training_seconds"] / s["batches"]),
        "daemons_ratio": statistics.fmean(run.stream["upstream_downstream_ratio"] for run in runs),
    }


def print_table(by_kind, target):
    columns = ("", "time to target", "fresh images", "images trained on", "waiting", "uses per fresh image")
    rows = [columns]
    for kind, f in by_kind.items():
        rows.append((LABELS[kind], f"{f['seconds']:.1f} s", f"{f['fresh_images']:,.0f}",
                     f"{f['images']:,.0f}", f"{100 * f['stall_share']:.0f} %",
                     f"{f['uses_per_fresh']:.2f}"))
    widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
    print(f"\nTest cross-entropy {target:.2f}, mean of the seeds, the daemon's start included:\n")
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  " + "   ".join(cells))
    none, echo = by_kind["none"], by_kind["echo"]
    print(f"\nEcho needs {echo['seconds'] / none['seconds']:.2f} of the time and "
          f"{echo['fresh_images'] / none['fresh_images']:.2f} of the fresh images.")
    print(f"R without echo, as the trainer sees it: "
          f"{none['seconds_per_batch'] / none['busy_seconds_per_batch']:.2f} "
          f"(a batch every {1e3 * none['seconds_per_batch']:.2f} ms, of which "
          f"{1e3 * none['busy_seconds_per_batch']:.2f} ms are training); as the daemon measures it: "
          f"{none['daemons_ratio']:.2f}, with echo {echo['daemons_ratio']:.2f}.")


class Plot:
    """Axes and lines of one picture. Plain SVG: writing and showing it needs no library."""

    WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 420, 64, 24, 56, 52

    def __init__(self, x_max, y_max):
        self.x_max, self.y_max = x_max, y_max
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.WIDTH} {self.HEIGHT}" '
            'font-family="system-ui, sans-serif" font-size="13" fill="#333">',
            f'<rect width="{self.WIDTH}" height="{self.HEIGHT}" fill="#ffffff"/>',
            f'<clipPath id="inside"><rect x="{self.LEFT}" y="{self.TOP}" '
            f'width="{self.WIDTH - self.LEFT}" height="{self.HEIGHT - self.TOP - self.BOTTOM}"/></clipPath>']

    def x(self, value):
        return self.LEFT + value / self.x_max * (self.WIDTH - self.LEFT - self.RIGHT)

    def y(self, value):
        return self.HEIGHT - self.BOTTOM - value / self.y_max * (self.HEIGHT - self.TOP - self.BOTTOM)

    def text(self, x, y, text, **attributes):
        extra = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{text}</text>')

    def line(self, x1, y1, x2, y2, colour="#e3e3e3", dashes=None):
        extra = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{extra}/>')

    def axes(self, title, x_name):
        self.text(self.LEFT, 26, title, font_size=16, font_weight=600)
        for tick in ticks(self.x_max):
            self.line(self.x(tick), self.TOP, self.x(tick), self.HEIGHT - self.BOTTOM)
            self.text(self.x(tick), self.HEIGHT - self.BOTTOM + 18, f"{tick:g}", text_anchor="middle")
        for percent in range(0, round(100 * self.y_max) + 1, 10):
            y = self.y(percent / 100)
            self.line(self.LEFT, y, self.WIDTH - self.RIGHT, y)
            self.text(self.LEFT - 8, y + 4, f"{percent} %", text_anchor="end")
        self.text((self.LEFT + self.WIDTH - self.RIGHT) / 2, self.HEIGHT - 12, x_name, text_anchor="middle")

    def curve(self, points, colour):
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" '
                          'stroke-linejoin="round" stroke-opacity="0.75" clip-path="url(#inside)"/>')
        x, y = points[-1]
        self.parts.append(f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="4" fill="{colour}"/>')

    def target(self, accuracy, text):
        """A dashed line across the picture, with its text above the line."""
        y = self.y(accuracy)
        self.line(self.LEFT, y, self.WIDTH - self.RIGHT, y, "#333", "6 4")
        self.text(self.WIDTH - self.RIGHT - 4, y - 8, text, text_anchor="end")

    def span(self, from_x, to_x, top, height, text):
        """A double arrow between two times, with a text below it, and a line from `top` to each end."""
        left, right, y = self.x(from_x), self.x(to_x), self.y(height)
        for x in (left, right):
            self.line(x, self.y(top), x, y + 7, "#333", "2 3")
        self.line(left, y, right, y, "#333")
        for tip, back in ((left, left + 8), (right, right - 8)):
            self.parts.append(f'<path d="M {tip:.1f} {y:.1f} L {back:.1f} {y - 4:.1f} L {back:.1f} {y + 4:.1f} Z"/>')
        self.text((left + right) / 2, y + 26, text, text_anchor="middle", font_size=18, font_weight=600)

    def legend(self, entries):
        x = self.LEFT
        for colour, name in entries:
            self.parts.append(f'<rect x="{x:.1f}" y="36" width="14" height="4" fill="{colour}"/>')
            self.text(x + 20, 42, name)
            x += 40 + 7.2 * len(name)

    def svg(self):
        return "\n".join([*self.parts, "</svg>\n"])


def ticks(top):
    step = next(s for s in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500) if top / s <= 10)
    return [step * i for i in range(int(top / step) + 1)]


def picture(runs, seconds, target):
    """`seconds`: mean time to the target by kind."""
    plot = Plot(1.03 * max(run.evaluations[-1]["seconds"] for run in runs), 0.90)
    plot.axes("Fashion-MNIST from a source four times too slow: test accuracy over time",
              "seconds since the start of the daemon; a dot marks the end of a training, at the target")
    for run in runs:
        points = [(one["seconds"], one["accuracy"]) for one in run.evaluations]
        plot.curve(points, COLOURS[run.kind])
    reached = statistics.fmean(run.evaluations[-1]["accuracy"] for run in runs)
    plot.target(reached, f"target: test cross-entropy {target:.2f}, reached at an accuracy of about {100 * reached:.0f} %")
    plot.span(seconds["echo"], seconds["none"], reached, 0.45,
              f"{seconds['none'] / seconds['echo']:.1f} times faster: {seconds['echo']:.1f} s, not {seconds['none']:.1f} s")
    plot.legend([(COLOURS[kind], LABELS[kind]) for kind in LABELS])
    return plot.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=pathlib.Path, help="folder of KIND-SEED.json and .csv files")
    parser.add_argument("--target", type=float, required=True)
    parser.add_argument("--svg", type=pathlib.Path, required=True)
    parser.add_argument("--ratio-max", type=float,
                        help="fail when echo needs a larger share of the time than this")
    options = parser.parse_args()
    runs = [Run(path) for path in sorted(options.runs.glob("*-*.json"), reverse=True)]
    by_kind = {kind: figures([run for run in runs if run.kind == kind]) for kind in LABELS}
    print_table(by_kind, options.target)
    seconds = {kind: found["seconds"] for kind, found in by_kind.items()}
    options.svg.write_text(picture(runs, seconds, options.target), encoding="utf-8")
    print(f"Accuracy over time: {options.svg}")
    missed = [f"{LABELS[run.kind]}, seed {run.seed}" for run in runs if not run.summary["reached"]]
    if missed:
        print(f"quickstart: the target was not reached: {'; '.join(missed)}", file=sys.stderr)
        return 1
    ratio = by_kind["echo"]["seconds"] / by_kind["none"]["seconds"]
    if options.ratio_max is not None and ratio > options.ratio_max:
        print(f"quickstart: echo took {ratio:.2f} of the time, more than {options.ratio_max:.2f}",
              file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
