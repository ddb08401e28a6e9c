"""Figures of week 2."""

import re

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from style import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, REPOSITORY, bare, figure, mix


def cell(axes, x, y, width, height, colour, weight, text="", **style):
    """Draws a box with a text in it."""
    axes.add_patch(Rectangle((x, y), width, height, facecolor=mix(colour, weight), edgecolor=INK, linewidth=0.5))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", **{"fontsize": 9, **style})


@figure("cache-growth")
def cache_growth():
    """Positions that each pass computes for five new tokens after a prompt of four, without and with a cache."""
    prompt, new = 4, 5
    fig, panels = plt.subplots(1, 2, figsize=(4.6, 2.3))
    for axes, cached in zip(panels, (False, True), strict=True):
        total = 0
        for step in range(new):
            for position in range(prompt + step):
                computed = not cached or step == 0 or position == prompt + step - 1
                total += computed
                axes.add_patch(Rectangle((position, -step), 0.88, 0.88, facecolor=mix(BLUE, 0.85 if computed else 0.0), edgecolor=BLUE if computed else GREY, linewidth=0.8))
            axes.text(-0.5, 0.44 - step, f"token {step + 1}" if not cached else str(step + 1), ha="right", va="center", fontsize=9)
        axes.set_title(f"{'a cache' if cached else 'no cache'}: {total} positions", loc="left")
        axes.set(xlim=(-0.3, prompt + new - 0.9), ylim=(1 - new - 0.2, 1))
        bare(axes)
    fig.subplots_adjust(wspace=0.12)
    return fig


@figure("super-block-of-q4-k")
def super_block_of_q4_k():
    """The 144 bytes of a block of Q4_K, 16 to a line."""
    source = (REPOSITORY / "formats" / "src" / "gguf" / "tensor_type.rs").read_text(encoding="utf-8")
    d, dmin, scales, codes = map(int, re.search(r'"Q4_K", 12, 256, (\d+) \+ (\d+) \+ (\d+) \+ (\d+)\)', source).groups())
    size = d + dmin + scales + codes
    parts = [("d", d, ORANGE, 0.75), ("dmin", dmin, PURPLE, 0.75), ("scales and minimums, 6 bits each", scales, GREEN, 0.5)]
    parts += [(f"groups {2 * i} and {2 * i + 1}: low halves, high halves", 32, BLUE, 0.3 + 0.15 * (i % 2)) for i in range(codes // 32)]
    fig, axes = plt.subplots(figsize=(4.6, 2.9))
    at = 0
    for name, length, colour, weight in parts:
        for i in range(at, at + length):
            axes.add_patch(Rectangle((i % 16, -(i // 16)), 0.94, 0.92, facecolor=mix(colour, weight), edgecolor="none"))
        x, lines = at % 16, -(-length // 16)
        axes.text(x + min(length, 16) / 2, -(at // 16) - (lines - 1) / 2 + 0.44, name, ha="center", va="center", fontsize=8 if length < 4 else 9)
        at += length
    for line in range(size // 16):
        axes.text(-0.4, 0.44 - line, str(16 * line), ha="right", va="center", fontsize=8, color=GREY)
    axes.text(-0.4, 1.35, "byte", ha="right", va="center", fontsize=8, color=GREY)
    axes.set_title("weight = d · scale · code − dmin · minimum", loc="left", fontsize=10)
    axes.set(xlim=(-1.6, 16), ylim=(-(size // 16) + 0.9, 1.6))
    bare(axes)
    return fig


@figure("bytes-of-a-weight")
def bytes_of_a_weight():
    """Bytes that a core reads and writes for each weight: f16, and Q4_0 with and without a buffer."""
    block, f32 = 18 / 32, 4
    rows = [("f16 file", [(2, BLUE)]), ("Q4_0, decoded first", [(block, BLUE), (f32, ORANGE), (f32, PURPLE)]), ("Q4_0, fused", [(block, BLUE)])]
    fig, axes = plt.subplots(figsize=(4.6, 2.2))
    for y, (name, parts) in enumerate(rows):
        left = 0
        for bytes_, colour in parts:
            axes.barh(-y, bytes_, 0.55, left, color=mix(colour, 0.8))
            left += bytes_
        axes.text(left + 0.15, -y, f"{left:.2f}".rstrip("0").rstrip("."), va="center")
    for x, text, colour in ((block / 2, "file", BLUE), (block + f32 / 2, "buffer written", ORANGE), (block + 1.5 * f32, "read again", PURPLE)):
        axes.text(x, -0.62, text, ha="center", va="center", fontsize=9, color=colour)
    axes.set_yticks([-y for y in range(len(rows))], [name for name, _ in rows])
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=(0, 10), ylim=(-2.5, 0.5), xlabel="bytes for each weight")
    axes.spines["left"].set_visible(False)
    return fig


@figure("lanes")
def lanes():
    """Products of two byte registers, summed in pairs (16 bits), then in fours (32 bits), for a quarter of the lanes."""
    codes = np.array([3, -1, 2, 0, 5, -4, 1, -2])
    activations = np.array([10, 20, -30, 40, 50, 60, -7, 8])
    twos = (codes * activations).reshape(-1, 2).sum(axis=1)
    fours = twos.reshape(-1, 2).sum(axis=1)
    fig, axes = plt.subplots(figsize=(4.8, 2.8))
    rows = [("codes", codes, 1, BLUE, "8 bits"), ("activations", activations, 1, BLUE, "8 bits"), ("added in pairs", twos, 2, ORANGE, "16 bits"), ("in fours", fours, 4, GREEN, "32 bits")]
    for i, (name, values, width, colour, bits) in enumerate(rows):
        y = -1.35 * i - (0.25 if i > 1 else 0)
        for j, value in enumerate(values):
            cell(axes, j * width, y, width, 0.9, colour, 0.35, f"{value}".replace("-", "−"))
        axes.text(-0.2, y + 0.45, name, ha="right", va="center", fontsize=9)
        axes.text(8.2, y + 0.45, f"… {bits}", ha="left", va="center", fontsize=9, color=GREY)
    axes.set(xlim=(-3.3, 10.4), ylim=(-4.5, 1.1))
    bare(axes)
    return fig


@figure("softmax-in-pieces")
def softmax_in_pieces():
    """The running sum of a softmax for the scores 1, 3, 5, 4. Earlier terms shrink when the maximum rises."""
    scores = [1, 3, 5, 4]
    fig, axes = plt.subplots(figsize=(4.6, 2.7))
    for i in range(len(scores)):
        seen = np.array(scores[: i + 1], dtype=float)
        parts = np.exp(seen - seen.max())
        bottom = 0
        for j, part in enumerate(parts):
            axes.bar(i, part, 0.6, bottom, color=mix([BLUE, ORANGE, GREEN, PURPLE][j], 0.75))
            if part > 0.1:
                axes.text(i, bottom + part / 2, str(scores[j]), ha="center", va="center")
            bottom += part
        factor = "" if i == 0 else ("\nbefore: · e$^{-2}$" if scores[i] == seen.max() else "\nbefore: · 1")
        axes.text(i, bottom + 0.05, f"{bottom:.3f}", ha="center", va="bottom")
        axes.text(i, -0.09, f"score {scores[i]}{factor}", ha="center", va="top", fontsize=9)
    axes.set(ylim=(0, 1.75), xlim=(-0.5, len(scores) - 0.5), xticks=[], ylabel="total")
    return fig
