"""Colours, helper functions and the registry of all figures."""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDER = REPOSITORY / "book" / "src" / "figures"

INK = "#123456"
BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#4c8bf5", "#e8853a", "#3fa66b", "#d9545a", "#9a6dd7", "#8a919b"

plt.rcParams.update(
    {
        "svg.fonttype": "path",
        "font.family": "DejaVu Sans",
        "font.size": 10,
        "text.color": INK,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.titlecolor": INK,
        "axes.titlesize": 11,
        "axes.linewidth": 0.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.color": INK,
        "ytick.color": INK,
        "legend.frameon": False,
        "savefig.transparent": True,
        "lines.linewidth": 1.8,
    }
)

FIGURES = {}


def figure(name):
    """Returns a decorator that registers a function as figure `name`. The function draws the figure and returns it."""

    def register(draw):
        FIGURES[name] = draw
        return draw

    return register


def bare(axes):
    """Removes the frame and the ticks of `axes`."""
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set_visible(False)


def mix(colour, weight):
    """Returns `colour` with opacity `weight`, which is readable on light and on dark pages."""
    return (*matplotlib.colors.to_rgb(colour), float(np.clip(weight, 0, 1)))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
