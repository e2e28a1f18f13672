"""Learning curves as a picture."""

from __future__ import annotations

import csv
from pathlib import Path


def draw_curves(log: Path, picture: Path) -> None:
    """Draw the losses and the dev score of a training log."""
    import matplotlib as mpl  # noqa: PLC0415 - slow to import, needed at the end only

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    with log.open(encoding="utf-8") as file:
        lines = [{k: float(v) for k, v in line.items()} for line in csv.DictReader(file)]
    if not lines:
        return
    epochs = [line["epoch"] for line in lines]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    for name in ("node", "source", "relation"):
        left.plot(epochs, [line[name] for line in lines], label=name)
    left.set(xlabel="epoch", ylabel="training loss per step")
    left.set_ylim(bottom=0)
    left.legend()
    scored = [
        (line["epoch"], line["dev_score"])
        for line in lines
        if line["dev_score"] == line["dev_score"]
    ]
    right.plot(*zip(*scored, strict=True), marker="o", markersize=3) if scored else None
    right.set(xlabel="epoch", ylabel="dev F1")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(picture, dpi=110)
    plt.close(figure)
