"""Draws every figure of the book from data, into book/src/figures.

    python book/figures/make.py            # all of them
    python book/figures/make.py causal-mask
    python book/figures/make.py --check    # fails if a committed figure differs from what the script draws

The book embeds the figures in its pages. Lines and text in the colour `INK` take the colour of the page's text,
because `INK` is written as `currentColor`.
"""

import argparse
import io
import re
import sys

import engine  # noqa: F401 registers its figures
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import week2  # noqa: F401
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from style import BLUE, FIGURES, FOLDER, GREEN, GREY, INK, ORANGE, PURPLE, RED, REPOSITORY, bare, figure, mix, softmax

# Folder of the live pieces, and the functions that compute their data files, by file name.
LIVE = REPOSITORY / "book" / "src" / "live"
DATA = {}


# ---------------------------------------------------------------------------------------------------------------- day 1


@figure("softmax-stable")
def softmax_stable():
    """Softmax of [0, 1, 2] + c in float32, with and without subtracting the maximum."""
    shifts = np.arange(-125, 125.01, 0.5)
    rows = (np.array([0, 1, 2])[None, :] + shifts[:, None]).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        naive = np.exp(rows) / np.exp(rows).sum(axis=1, keepdims=True)
    stable = softmax(rows)

    fig, axes = plt.subplots(figsize=(7.2, 2.7))
    axes.plot(shifts, stable[:, 2], color=GREEN, linewidth=5, alpha=0.45, label="maximum subtracted first")
    axes.plot(shifts, naive[:, 2], color=RED, label="exp(x) / Σ exp(x) as written")
    broken = np.isnan(naive[:, 2])
    for side in (shifts < 0, shifts > 0):
        lost = shifts[broken & side]
        axes.axvspan(lost.min(), lost.max(), color=RED, alpha=0.13, linewidth=0)
        axes.text(lost.mean(), 0.42, "NaN", color=RED, ha="center", fontsize=11)
    axes.annotate("few bits are left of e$^x$:\nthe answer drifts", (-101.5, 0.62), (-66, 0.37), arrowprops={"arrowstyle": "->", "color": INK}, ha="center")
    axes.set(xlim=(-125, 125), ylim=(0.25, 1.0), xlabel="c", ylabel="probability of the last entry")
    axes.set_title("softmax([c, c + 1, c + 2]) in f32: the right answer is 0.665 for every c", loc="left")
    axes.legend(loc="upper center")
    return fig


@figure("split-heads")
def split_heads():
    """One row per position, and the numbers in each head, with and without swapping the axes."""
    batch_row = np.arange(16).reshape(2, 8)
    right = batch_row.reshape(2, 2, 4).transpose(1, 0, 2)
    wrong = batch_row.reshape(2, 2, 4)
    fig, axes = plt.subplots(1, 3, figsize=(9.6, 2.5), width_ratios=[8.6, 5.4, 5.4])
    owner = np.repeat([[0, 1]], 4, axis=1).reshape(-1)

    def cells(ax, values, top):
        for r, row in enumerate(values):
            for c, value in enumerate(row):
                head = owner[value % 8]
                ax.add_patch(Rectangle((c, top - r), 0.94, 0.94, facecolor=mix([BLUE, ORANGE][head], 0.55 if value < 8 else 0.28), edgecolor="none"))
                ax.text(c + 0.47, top - r + 0.45, str(value), ha="center", va="center")

    cells(axes[0], batch_row, 2.4)
    for r in range(2):
        axes[0].text(-0.25, 2.85 - r, f"position {r}", ha="right", va="center")
    axes[0].text(2, 3.55, "head 0", ha="center", color=BLUE)
    axes[0].text(6, 3.55, "head 1", ha="center", color=ORANGE)
    axes[0].set(title="[L=2, H·D=8]", xlim=(-2.6, 8))
    for ax, heads, title, good in ((axes[1], right, "reshape, then swap axes", True), (axes[2], wrong, "reshape to [H, L, D] at once", False)):
        cells(ax, heads[0], 3.4)
        cells(ax, heads[1], 0.9)
        ax.text(-0.25, 3.4, "[0]", ha="right", va="center")
        ax.text(-0.25, 0.9, "[1]", ha="right", va="center")
        ax.set_title(title, color=GREEN if good else RED)
        ax.set_xlim(-1.7, 4.7)
    for ax in axes:
        ax.set(ylim=(-0.3, 4.6), aspect="equal")
        bare(ax)
    return fig


# ---------------------------------------------------------------------------------------------------------------- day 2


@figure("rope-pairs")
def rope_pairs():
    """The pairs among eight numbers, in both RoPE layouts."""
    colours = [BLUE, GREEN, ORANGE, PURPLE]
    fig, axes = plt.subplots(1, 2, figsize=(9, 2.35))
    forms = (
        ("interleaved: (x[2i], x[2i+1])", [(2 * i, 2 * i + 1) for i in range(4)]),
        ("half-split: (x[i], x[i+D/2])", [(i, i + 4) for i in range(4)]),
    )
    for ax, (title, pairs) in zip(axes, forms):
        for i, (a, b) in enumerate(pairs):
            for cell in (a, b):
                ax.add_patch(Rectangle((cell, 0), 0.92, 0.92, facecolor=mix(colours[i], 0.4), edgecolor="none"))
                ax.text(cell + 0.46, 0.44, f"x$_{cell}$", ha="center", va="center", fontsize=12)
            bend = -0.62 if b - a == 1 else -0.36
            ax.add_patch(FancyArrowPatch((a + 0.46, 1.0), (b + 0.46, 1.0), arrowstyle="-", connectionstyle=f"arc3,rad={bend}", color=colours[i], linewidth=2))
            middle, height = ((a + b) / 2 + 0.46, 1.5) if b - a == 1 else (a + 0.46, -0.3)
            ax.text(middle, height, f"pair {i}", ha="center", va="center", color=colours[i], fontsize=8)
        ax.set(title=title, xlim=(-0.1, 8.1), ylim=(-0.6, 2.2), aspect="equal")
        bare(ax)
    return fig


@figure("rope-frequencies")
def rope_frequencies():
    """Cosines of a head of size 64, and the number of positions in which each pair makes a full turn."""
    head_dim, positions = 64, np.arange(0, 96)
    theta = 10000.0 ** (-np.arange(0, head_dim, 2) / head_dim)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.1), width_ratios=[1.25, 1])
    for offset, pair in zip((9, 6, 3, 0), (0, 4, 8, 16)):
        colour = {0: BLUE, 4: GREEN, 8: ORANGE, 16: PURPLE}[pair]
        fine = np.linspace(0, positions[-1], 1200)
        left.plot(fine, offset + np.cos(fine * theta[pair]), color=colour, linewidth=1, alpha=0.6)
        left.plot(positions, offset + np.cos(positions * theta[pair]), ".", color=colour, markersize=3.5)
        left.text(98, offset, f"pair {pair}", color=colour, va="center")
    left.set_yticks([])
    left.spines["left"].set_visible(False)
    left.set_xlabel("position p")
    left.set_title("cos(p · θᵢ), D = 64, base 10,000", loc="left")
    left.set_xlim(0, 96)
    for base, colour, style in ((1e4, BLUE, "-"), (1e6, ORANGE, "-")):
        wavelength = 2 * np.pi * base ** (np.arange(0, head_dim, 2) / head_dim)
        right.plot(np.arange(32), wavelength, style, color=colour)
        right.text(31.3, wavelength[-1], f"base {base:,.0f}", color=colour, va="center")
    right.axhline(512, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    right.text(31, 410, "tiny-story: 512", color=GREY, fontsize=9, ha="right", va="top")
    right.set(yscale="log", xlim=(0, 31), xlabel="pair i")
    right.set_title("positions for one full turn, 2π / θᵢ", loc="left")
    fig.subplots_adjust(wspace=0.42)
    return fig


@figure("rope-relative")
def rope_relative():
    """The score of one query and one key at many positions. It depends only on their distance."""
    rng = np.random.default_rng(5)
    head_dim = 16
    q, k = rng.standard_normal((2, head_dim))
    theta = 10000.0 ** (-np.arange(0, head_dim, 2) / head_dim)

    def turn(x, position):
        a, b = x[0::2], x[1::2]
        cos, sin = np.cos(position * theta), np.sin(position * theta)
        return np.stack([a * cos - b * sin, a * sin + b * cos], axis=1).reshape(-1)

    n = 24
    # Rounded, because which of several nearly equal scores is largest depends on the machine.
    scores = np.array([[turn(q, i) @ turn(k, j) for j in range(n)] for i in range(n)]).round(9)
    top = np.abs(scores).max()
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.3), width_ratios=[1, 1.35])
    for i in range(n):
        for j in range(n):
            colour = BLUE if scores[i, j] > 0 else ORANGE
            left.add_patch(Rectangle((j, n - 1 - i), 1, 1, facecolor=mix(colour, abs(scores[i, j]) / top), edgecolor="none"))
    left.set(xlim=(0, n), ylim=(0, n), aspect="equal")
    left.set_xticks([0.5, 12.5], ["0", "12"])
    left.set_yticks([n - 0.5, n - 12.5], ["0", "12"])
    left.set(xlabel="position of the key", ylabel="position of the query")
    left.set_title("score of one q and one k", loc="left")
    for i, colour, width in ((0, BLUE, 1.2), (12, GREEN, 5), (23, ORANGE, 1.2)):
        right.plot(i - np.arange(n), scores[i], ".-", color=colour, linewidth=width, markersize=5, alpha=0.5 if width > 2 else 1, label=f"query at {i}")
    right.axhline(0, color=INK, linewidth=0.6)
    right.set_xlabel("position of the query − position of the key")
    right.set_title("the same scores over the distance", loc="left")
    right.set_ylim(top=scores.max() * 1.35)
    right.legend(loc="upper center", ncols=3, fontsize=8.5, columnspacing=1.2, handlelength=1.4)
    return fig


# ---------------------------------------------------------------------------------------------------------------- day 3


@figure("gqa-groups")
def gqa_groups():
    """Six query heads on two key/value heads."""
    fig, axes = plt.subplots(1, 2, figsize=(8.6, 2.2))
    for ax, title, of, good in (
        (axes[0], "h / G: neighbours share", lambda h: h // 3, True),
        (axes[1], "h mod H: a tiling, wrong", lambda h: h % 2, False),
    ):
        for h in range(6):
            colour = [BLUE, ORANGE][of(h)]
            ax.add_patch(FancyBboxPatch((h, 1.5), 0.7, 0.5, boxstyle="round,pad=0.05", facecolor=mix(colour, 0.45), edgecolor="none"))
            ax.text(h + 0.35, 1.73, f"q$_{h}$", ha="center", va="center", fontsize=12)
            ax.plot([h + 0.35, 1.6 + 2.4 * of(h)], [1.42, 0.62], color=colour, linewidth=1.5)
        for kv in range(2):
            ax.add_patch(FancyBboxPatch((1.05 + 2.4 * kv, 0), 1.1, 0.5, boxstyle="round,pad=0.05", facecolor=mix([BLUE, ORANGE][kv], 0.45), edgecolor="none"))
            ax.text(1.6 + 2.4 * kv, 0.23, f"k$_{kv}$, v$_{kv}$", ha="center", va="center", fontsize=12)
        ax.set_title(title, color=GREEN if good else RED)
        ax.set(xlim=(-0.2, 6), ylim=(-0.2, 2.2))
        bare(ax)
    return fig


@figure("causal-mask")
def causal_mask():
    """The additive mask for L = S and for the last L of S positions."""
    fig, axes = plt.subplots(1, 3, figsize=(9.4, 3.2), width_ratios=[5, 5, 5])
    cases = ((5, 5, 0, "L = S = 5", True), (3, 5, 2, "L = 3, S = 5", True), (3, 5, 0, "the diagonal at 0: wrong", False))
    for ax, (length, keys, shift, title, good) in zip(axes, cases):
        for i in range(length):
            for j in range(keys):
                kept = j <= i + shift
                ax.add_patch(
                    Rectangle((j, 4 - i), 0.94, 0.94, facecolor=mix(BLUE if good else RED, 0.45) if kept else mix(GREY, 0.16), edgecolor="none")
                )
                ax.text(j + 0.47, 4.45 - i, "0" if kept else "−∞", ha="center", va="center", color=INK if kept else GREY)
            position = keys - length + i
            ax.text(-0.2, 4.45 - i, f"query {i} at {position}", ha="right", va="center", fontsize=9)
        for j in range(keys):
            ax.text(j + 0.47, 5.2, str(j), ha="center", va="center", fontsize=9)
        ax.text(2.5, 5.75, "key j", ha="center", va="center", fontsize=9)
        ax.set_title(title, color=INK if good else RED)
        ax.set(xlim=(-2.9, 5), ylim=(0, 6), aspect="equal")
        bare(ax)
    fig.subplots_adjust(wspace=0.08)
    return fig


# ---------------------------------------------------------------------------------------------------------------- day 4


@figure("silu")
def silu():
    """SiLU and two similar functions, and the errors of three ways to compute it in float32."""
    x = np.linspace(-6, 3, 500)
    sigma = 1 / (1 + np.exp(-x))
    from math import erf

    gelu = np.array([v * 0.5 * (1 + erf(v / np.sqrt(2))) for v in x])
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
    left.axhline(0, color=INK, linewidth=0.6)
    left.plot(x, np.maximum(x, 0), color=GREY, linewidth=1.3, label="max(x, 0)")
    left.plot(x, gelu, color=ORANGE, linewidth=1.3, label="GELU")
    left.plot(x, x * sigma, color=BLUE, label="SiLU, x · σ(x)")
    low = x[np.argmin(x * sigma)]
    left.plot([low], [(x * sigma).min()], "o", color=BLUE, markersize=4)
    left.text(low, -0.62, f"least at x = {low:.2f}: {(x * sigma).min():.3f}".replace("-", "−"), ha="center", fontsize=9, color=BLUE)
    left.set_ylim(-0.9, 3)
    left.legend(loc="upper left")

    x32 = np.linspace(-110, -1, 1000).astype(np.float32)
    exact = x32.astype(np.float64) / (1 + np.exp(-x32.astype(np.float64)))
    with np.errstate(over="ignore", divide="ignore"):
        one = np.float32(1)
        ways = {
            "x · (1 − σ(|x|))": (RED, x32 * (one - one / (one + np.exp(-np.abs(x32))))),
            "x / (1 + e$^{−x}$)": (ORANGE, x32 / (one + np.exp(-x32))),
            "x · e$^x$ / (1 + e$^x$)": (GREEN, x32 * np.exp(x32) / (one + np.exp(x32))),
        }
    for label, (colour, found) in ways.items():
        right.plot(x32, np.abs(found - exact) / np.abs(exact) + 2e-9, color=colour, label=label, linewidth=1.2)
    right.set(yscale="log", ylim=(1e-9, 20), xlabel="x")
    right.set_title("relative error in f32", loc="left")
    right.legend(loc="center", bbox_to_anchor=(0.46, 0.62), fontsize=9)
    left.set_xlabel("x")
    left.set_title("three activations", loc="left")
    return fig


# ---------------------------------------------------------------------------------------------------------------- day 5


@figure("decoder")
def decoder():
    """The model from token ids to logits, with shapes and with the day of each part."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 5.2), width_ratios=[1, 1.3])

    def box(ax, x, y, w, text, colour, h=0.62):
        ax.add_patch(FancyBboxPatch((x - w / 2, y - h / 2), w, h, boxstyle="round,pad=0.06", facecolor=mix(colour, 0.4), edgecolor="none"))
        ax.text(x, y, text, ha="center", va="center")

    def arrow(ax, points):
        for a, b in zip(points, points[1:-1]):
            ax.plot([a[0], b[0]], [a[1], b[1]], color=INK, linewidth=1.1, solid_capstyle="round")
        ax.annotate("", points[-1], points[-2], arrowprops={"arrowstyle": "->", "color": INK, "linewidth": 1.1, "shrinkA": 0, "shrinkB": 0})

    steps = [
        (9.2, "embedding", PURPLE, "[B, L, E]"),
        (7.6, "block 0", BLUE, "[B, L, E]"),
        (6.5, "⋮", None, None),
        (5.4, "last block", BLUE, "[B, L, E]"),
        (3.8, "RMSNorm", GREEN, "[B, L, E]"),
        (2.2, "output head", PURPLE, "[B, L, V]"),
    ]
    left.text(0, 10.5, "token ids [B, L]", ha="center", va="center")
    arrow(left, [(0, 10.2), (0, 9.6)])
    for (y, text, colour, shape), after in zip(steps, [8.0, 6.8, 5.8, 4.2, 2.6, 1.2]):
        if colour is None:
            left.text(0, y, text, ha="center", va="center", fontsize=14)
            arrow(left, [(0, y - 0.35), (0, after)])
            continue
        box(left, 0, y, 2.6, text, colour)
        arrow(left, [(0, y - 0.4), (0, after)])
        left.text(0.15, (y - 0.4 + after) / 2, shape, va="center", fontsize=9, color=GREY)
    left.text(0, 0.85, "logits", ha="center", va="center")
    left.annotate(
        "", (-1.45, 2.3), (-1.45, 9.1), arrowprops={"arrowstyle": "<->", "color": PURPLE, "connectionstyle": "arc3,rad=0.3", "linestyle": (0, (4, 3))}
    )
    left.text(-2.6, 5.7, "tied: one table", rotation=90, ha="center", va="center", fontsize=9, color=PURPLE)
    left.set_xlim(-3, 2)

    x = 0
    right.text(x, 10.5, "x [B, L, E]", ha="center", va="center")
    arrow(right, [(x, 10.2), (x, 9.35)])
    box(right, x, 9.0, 3.4, "RMSNorm  (day 4)", GREEN)
    arrow(right, [(x, 8.6), (x, 8.05)])
    box(right, x, 6.95, 3.4, "attention  (day 3)\nheads of day 1,\nRoPE of day 2, mask", BLUE, h=1.9)
    arrow(right, [(x, 5.9), (x, 5.5)])
    right.text(x, 5.25, "+", ha="center", va="center", fontsize=15)
    arrow(right, [(x, 9.85), (2.6, 9.85), (2.6, 5.25), (0.3, 5.25)])
    arrow(right, [(x, 5.0), (x, 4.25)])
    box(right, x, 3.9, 3.4, "RMSNorm  (day 4)", GREEN)
    arrow(right, [(x, 3.5), (x, 2.85)])
    box(right, x, 2.5, 3.4, "SwiGLU MLP  (day 4)", ORANGE)
    arrow(right, [(x, 2.1), (x, 1.7)])
    right.text(x, 1.45, "+", ha="center", va="center", fontsize=15)
    arrow(right, [(x, 4.65), (2.6, 4.65), (2.6, 1.45), (0.3, 1.45)])
    arrow(right, [(x, 1.2), (x, 0.75)])
    right.text(2.75, 7.4, "residual:\nthe input as it was\nbefore the norm", va="center", fontsize=9, color=GREY)
    right.set_title("one block", loc="center")
    left.set_title("the model", loc="center")
    right.set_xlim(-2.2, 5.2)
    for ax in (left, right):
        ax.set_ylim(0.4, 10.8)
        bare(ax)
    return fig


@figure("attention-weights")
def attention_weights():
    """Attention weights of the embedded model just before it names a colour from the prompt."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    folder = REPOSITORY / "models" / "tiny-story"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    text = (
        "Once upon a time, Gus was a clever pony. Gus had a new wagon. The wagon was blue and very pretty."
        "\nQuestion: What colour was the wagon?\nAnswer: The wagon was"
    )
    ids = tokenizer(text, return_tensors="pt").input_ids
    with torch.no_grad():
        out = model(ids, output_attentions=True)
    words = [tokenizer.decode([i]).replace("\n", "↵").strip() or "·" for i in ids[0].tolist()]
    answer = tokenizer.decode([int(out.logits[0, -1].argmax())]).strip()
    # [layers, heads, L, S], rounded to twentieths so that every machine draws the same figure.
    weights = np.round(torch.stack(out.attentions)[:, 0].double().numpy() * 20) / 20
    layers, heads, _, keys = weights.shape
    told, asked = words.index("blue"), words.index("colour")
    if answer != "blue" or weights[0, :, asked, told].max() < 0.5 or weights[2:, :, -1, asked].max() < 0.5:
        sys.exit(f"attention-weights: this model says {answer!r}, or finds it in another way than the book tells: change the text")

    fig, panels = plt.subplots(2, 1, figsize=(9.6, 8.2))
    floor = -0.6 * (layers - 1) - 0.5
    for axes, query, title in ((panels[0], asked, "where “colour” looks"), (panels[1], keys - 1, "where the last “was” looks")):
        for row, (layer, head) in enumerate(np.ndindex(layers, heads)):
            y = layers * heads - 1 - row - 0.6 * layer
            for j in np.flatnonzero(weights[layer, head, query]):
                axes.add_patch(Rectangle((j, y), 0.94, 0.94, facecolor=mix(BLUE, weights[layer, head, query, j]), edgecolor="none"))
            if head == 0:
                axes.text(-0.5, y - heads / 2 + 1, f"layer {layer}", ha="right", va="center", fontsize=8.5)
                axes.plot([-0.3, -0.3], [y + 0.94, y - heads + 1], color=INK, linewidth=0.6)
        for j, word in enumerate(words):
            colour = ORANGE if j == query else BLUE if j == told else GREY if j > query else INK
            axes.text(j + 0.47, floor, word, rotation=90, ha="center", va="top", fontsize=8.5, color=colour)
        axes.set_title(title, loc="left", color=ORANGE)
        axes.set(xlim=(-3.5, keys), ylim=(floor - 6, layers * heads + 0.2))
        bare(axes)
    top = layers * heads + 0.5
    panels[0].text(keys - 9.2, top + 0.5, "attention weight", ha="right", va="center", fontsize=8.5)
    for i, weight in enumerate((0.05, 0.25, 0.5, 0.75, 1)):
        panels[0].add_patch(Rectangle((keys - 8.9 + 1.8 * i, top), 0.94, 0.94, facecolor=mix(BLUE, weight), edgecolor="none", clip_on=False))
        panels[0].text(keys - 8.43 + 1.8 * i, top + 1.1, f"{weight:g}", ha="center", va="bottom", fontsize=8)
    fig.subplots_adjust(hspace=0.12)
    return fig


# ---------------------------------------------------------------------------------------------------------------- day 7


def sampling_logits():
    """Returns every logit of the embedded model after one prompt, largest first, for the sliders of day 7."""
    import json

    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    folder = REPOSITORY / "models" / "tiny-story"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    prompt = "Once upon a time, Gus was a clever pony. Gus was very"
    with torch.no_grad():
        logits = model(**tokenizer(prompt, return_tensors="pt")).logits[0, -1].double()
    order = torch.argsort(logits, descending=True, stable=True).tolist()
    # Rounded to two digits before sorting, so that every machine writes the same numbers in the same order.
    rows = sorted(((-round(float(logits[i]), 2), i) for i in order))
    values = [-value for value, _ in rows]
    tokens = [tokenizer.decode([i]).replace("\n", "↵") for _, i in rows[:12]]
    return (
        "// Written by book/figures/make.py: logits of models/tiny-story, largest first, and its likeliest tokens.\n"
        f"export const PROMPT = {json.dumps(prompt)};\n"
        f"export const TOKENS = {json.dumps(tokens, ensure_ascii=False)};\n"
        f"export const LOGITS = {json.dumps(values, separators=(',', ':'))};\n"
    )


DATA["sampling-logits.js"] = sampling_logits


@figure("sampling-cutoffs")
def sampling_cutoffs():
    """One distribution of twelve tokens at three temperatures, and the tokens that each cut-off keeps of it."""
    logits = np.array([3.0, 2.6, 1.9, 1.2, 1.0, 0.6, 0.2, -0.1, -0.5, -1.0, -1.6, -2.4])
    p = softmax(logits)
    fig, axes = plt.subplots(2, 3, figsize=(9.2, 4.6), sharex=True, sharey=True)

    def bars(ax, shaped, kept, title, note):
        for i, value in enumerate(shaped):
            ax.bar(i, value, width=0.8, color=mix(BLUE, 0.8) if kept[i] else mix(GREY, 0.35), linewidth=0)
        ax.set_title(title, loc="left")
        ax.text(11.4, 0.66, note, ha="right", va="top", fontsize=9)

    every = np.ones(12, bool)
    cold, hot = softmax(logits / 0.5), softmax(logits / 2)
    bars(axes[0, 0], p, every, "as the model gave it", f"most probable: {p[0]:.2f}")
    bars(axes[0, 1], cold, every, "temperature 0.5", f"most probable: {cold[0]:.2f}")
    bars(axes[0, 2], hot, every, "temperature 2", f"most probable: {hot[0]:.2f}")
    bars(axes[1, 0], p, np.arange(12) < 3, "top-k, k = 3", f"3 tokens, mass {p[:3].sum():.2f}")
    before = np.cumsum(p) - p
    keep = before < 0.8
    bars(axes[1, 1], p, keep, "top-p, p = 0.8", f"{keep.sum()} tokens, mass {p[keep].sum():.2f}")
    crossing = int(keep.sum()) - 1
    axes[1, 1].annotate(
        f"crosses 0.8:\n{before[crossing]:.2f} before it,\n{before[crossing] + p[crossing]:.2f} with it", (crossing, p[crossing] + 0.01), (crossing + 1.3, 0.22),
        fontsize=9, arrowprops={"arrowstyle": "->", "color": INK},
    )
    ratio = p / p[0]
    keep = ratio >= 0.1
    bars(axes[1, 2], p, keep, "min-p, p = 0.1", f"{keep.sum()} tokens, mass {p[keep].sum():.2f}")
    axes[1, 2].axhline(0.1 * p[0], color=ORANGE, linewidth=1.2, linestyle=(0, (4, 3)))
    axes[1, 2].text(11.4, 0.1 * p[0] + 0.012, f"0.1 × {p[0]:.2f}", color=ORANGE, ha="right", fontsize=9)
    for ax in axes[1]:
        ax.set_xlabel("tokens by probability")
    for ax in axes[:, 0]:
        ax.set_ylabel("probability")
    for ax in axes.flat:
        ax.set_xticks(range(12))
        ax.set_xticklabels([])
        ax.set_ylim(0, 0.7)
    fig.subplots_adjust(hspace=0.35)
    return fig


@figure("roofline")
def roofline():
    """Time of a pass and tokens per second, by the number of rows of the pass: TinyLlama in Q8_0 at 30 GB/s and 10^12 operations a second."""
    size, multiply_adds, bandwidth, operations = 1.0994e9, 1.0344e9, 30e9, 1e12
    rows = np.geomspace(1, 512, 400)
    reading, computing = np.full_like(rows, size / bandwidth), 2 * multiply_adds * rows / operations
    balance = size / bandwidth / (2 * multiply_adds / operations)
    fig, axes = plt.subplots(1, 2, figsize=(9.2, 3.4))
    ticks = [1, 4, 16, 64, 256]
    for ax in axes:
        ax.set(xscale="log", yscale="log")
        ax.minorticks_off()
        ax.set_xticks(ticks, [str(n) for n in ticks])
        ax.set_xlabel("rows of the pass")
        ax.axvline(balance, color=GREY, linewidth=1.0, linestyle=(0, (3, 3)))
    times = axes[0]
    times.plot(rows, 1e3 * np.maximum(reading, computing), color=BLUE, linewidth=2.4)
    times.plot(rows, 1e3 * reading, color=ORANGE, linewidth=1.0, linestyle=(0, (4, 3)))
    times.plot(rows, 1e3 * computing, color=GREEN, linewidth=1.0, linestyle=(0, (4, 3)))
    times.text(1.1, 1e3 * reading[0] * 1.15, "reading the weights", color=ORANGE, fontsize=9)
    times.text(2.3, 1e3 * computing[0] * 1.35, "computing", color=GREEN, fontsize=9, rotation=36)
    times.text(balance * 1.1, 2.3, f"{balance:.1f} rows", color=GREY, fontsize=9)
    times.set_ylabel("milliseconds")
    times.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    speed = axes[1]
    speed.plot(rows, rows / np.maximum(reading, computing), color=BLUE, linewidth=2.4)
    speed.plot(1, bandwidth / size, "o", color=ORANGE)
    speed.text(1.15, bandwidth / size * 0.78, f"decoding:\n{bandwidth / size:.0f} tokens/s", color=ORANGE, fontsize=9, va="top")
    best = operations / (2 * multiply_adds)
    speed.text(480, best * 1.12, f"prompts: {best:.0f} tokens/s", color=GREEN, fontsize=9, ha="right")
    speed.set_ylabel("tokens per second, at most")
    speed.set_yticks([10, 100, 1000], ["10", "100", "1,000"])
    speed.set_ylim(10, 1200)
    fig.subplots_adjust(wspace=0.3)
    return fig


# ------------------------------------------------------------------------------------------------------- week 2, day 3


@figure("block-of-q4-0")
def block_of_q4_0():
    """One block of the embedded model: its weights, and the sixteen values that Q4_0 has for them."""
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize, quantize
    from safetensors.torch import load_file

    weights = load_file(REPOSITORY / "models" / "tiny-story" / "model.safetensors")["model.layers.0.mlp.down_proj.weight"].float().numpy()
    blocks = weights.reshape(-1, 32)
    # A block whose largest weight is positive and much larger than the others.
    largest = blocks.max(axis=1)
    outlier = largest / np.sort(np.abs(blocks), axis=1)[:, -2]
    x = blocks[np.where(largest == np.abs(blocks).max(axis=1), outlier, 0).argsort()[-40]]
    stored = quantize(x, GGMLQuantizationType.Q4_0)
    back = dequantize(stored, GGMLQuantizationType.Q4_0)
    d = float(stored[:2].view(np.float16)[0])

    fig, axes = plt.subplots(figsize=(8.4, 3.4))
    for q in range(16):
        axes.axhline(d * (q - 8), color=GREY, linewidth=1.6 if q == 8 else 0.7, alpha=0.55)
        axes.text(32.1, d * (q - 8), str(q), va="center", fontsize=8, color=ORANGE)
    places = np.arange(32)
    axes.vlines(places, x, back, color=RED, linewidth=1.4)
    axes.plot(places, back, "_", color=ORANGE, markersize=9, markeredgewidth=2.2, label="as it comes back")
    axes.plot(places, x, ".", color=BLUE, markersize=8, label="weight")
    axes.axhline(d * 8, color=GREY, linewidth=0.9, alpha=0.55, linestyle=(0, (2, 4)))
    axes.text(32.1, d * 8, "16: four bits end at 15", va="center", fontsize=8, color=GREY)
    axes.text(32.1, d * -8 * 1.1, "integer", fontsize=8, color=ORANGE)
    axes.set(ylim=(d * 8.8, d * -8.8), xlim=(-0.8, 31.8), xticks=[0, 15, 16, 31], xlabel="weight of the block")
    axes.set_title(f"d = {d:.4f}", loc="left")
    axes.legend(loc="upper left", ncols=2, bbox_to_anchor=(0.18, 1.13), borderaxespad=0)
    return fig


# ------------------------------------------------------------------------------------------------------- week 3, day 3


def attention_tile():
    """Returns the number of positions in a tile, from the kernels' source. A page has a multiple of it."""
    source = (REPOSITORY / "kernels" / "src" / "loops.rs").read_text(encoding="utf-8")
    return int(re.search(r"const TILE: usize = (\d+);", source)[1])


@figure("pages")
def pages():
    """Two answers to a prompt of 40 tokens, and an unrelated text: their block tables, and the pages of the pool."""
    page = attention_tile()
    prompt, texts = 40, {"answer A": (43, [0, 2], BLUE), "answer B": (45, [0, 1], ORANGE), "another text": (70, [3, 4, 6], GREEN)}
    owners = {index: [name for name, (_, table, _) in texts.items() if index in table] for index in range(8)}
    fig, axes = plt.subplots(figsize=(8.4, 4.3))
    bare(axes)
    width, cell, left = 9.0, 9.0 / page, 3.0
    tables = dict(zip(texts, (8.2, 6.2, 4.2), strict=True))
    axes.text(0, 9.6, "block tables", fontsize=10)
    axes.text(8.2, 9.6, f"the pool: pages of {page} positions", fontsize=10)
    place = lambda index: (8.2, 8.4 - index * 1.15)  # noqa: E731
    for name, (length, table, colour) in texts.items():
        y = tables[name]
        axes.text(0, y + 0.05, f"{name},\n{length} positions", va="center", fontsize=9, color=colour)
        end = left + len(table) * 0.9
        for i, index in enumerate(table):
            axes.add_patch(Rectangle((left + i * 0.9, y - 0.35), 0.9, 0.8, facecolor=mix(colour, 0.2), edgecolor=colour, linewidth=1.2))
            axes.text(left + i * 0.9 + 0.45, y + 0.05, str(index), ha="center", va="center", fontsize=10)
            x, at = place(index)
            arrow = FancyArrowPatch((end, y + 0.05), (x - 0.45, at + 0.4), arrowstyle="-|>", mutation_scale=8, color=colour, linewidth=0.9, alpha=0.8)
            axes.add_patch(arrow)
    for index, names in owners.items():
        x, y = place(index)
        axes.text(x - 0.2, y + 0.4, str(index), ha="center", va="center", fontsize=9)
        for position in range(page):
            used = [n for n in names if texts[n][1].index(index) * page + position < texts[n][0]]
            shared = [n for n in used if n.startswith("answer") and texts[n][1].index(index) * page + position < prompt]
            colour = PURPLE if shared else texts[used[0]][2] if used else None
            axes.add_patch(Rectangle((x + position * cell, y), cell * 0.86, 0.8, facecolor=mix(colour, 0.55) if colour else "none", edgecolor=GREY, linewidth=0.4))
        axes.text(x + width + 0.15, y + 0.4, {0: "free", 1: "1 owner", 2: "2 owners"}[len(names)], va="center", fontsize=8.5, color=INK if names else GREY)
    axes.text(0, 2.2, f"Violet: the prompt's {prompt} positions.\nA's first new token belonged on\npage 1. B used that page too,\nso A copied it to page 2 first.", fontsize=8.5, va="top", color=PURPLE)
    axes.set(xlim=(-0.2, 19.2), ylim=(-0.6, 10.2))
    return fig


# ------------------------------------------------------------------------------------------------- week 3, days 5 and 6


@figure("prefixes")
def prefixes():
    """A new request's block table, with two pages from the index and a new one, and the owners of each page."""
    fig, axes = plt.subplots(figsize=(8.4, 3.6))
    bare(axes)
    rows = [("a request that runs", 4.6, [0, 1, 2], BLUE), ("the index", 2.9, [0, 1, 4], PURPLE), ("a new request", 1.2, [0, 1, 5], ORANGE)]
    pool = {0: "You are a help…", 1: "…ful assistant.", 2: "What is a page?", 3: "free", 4: "(an old text)", 5: "Who are you?"}
    place = lambda index: (6.6, 5.2 - index * 0.98)  # noqa: E731
    for name, y, table, colour in rows:
        axes.text(0, y + 0.62, name, fontsize=9.5, color=colour)
        for i, index in enumerate(table):
            axes.add_patch(Rectangle((i * 0.8, y - 0.3), 0.8, 0.7, facecolor=mix(colour, 0.2), edgecolor=colour, linewidth=1.2))
            axes.text(i * 0.8 + 0.4, y + 0.05, str(index), ha="center", va="center", fontsize=10)
            x, at = place(index)
            axes.add_patch(
                FancyArrowPatch((2.4, y + 0.05), (x - 0.05, at + 0.35), arrowstyle="-|>", mutation_scale=8, color=colour, linewidth=0.9, alpha=0.75, connectionstyle="arc3,rad=0.04")
            )
    for index, text in pool.items():
        x, y = place(index)
        owners = [colour for _, _, table, colour in rows if index in table]
        face = mix(owners[-1], 0.25) if owners else "none"
        axes.add_patch(Rectangle((x, y), 4.2, 0.72, facecolor=face, edgecolor=GREY, linewidth=0.8))
        axes.text(x + 0.15, y + 0.36, str(index), va="center", fontsize=9.5)
        axes.text(x + 0.6, y + 0.36, text, va="center", fontsize=9, color=INK if owners else GREY)
        axes.text(x + 4.35, y + 0.36, f"{len(owners)} owner{'' if len(owners) == 1 else 's'}" if owners else "", va="center", fontsize=8.5)
    axes.text(0, 0.15, "computed by the new request: page 5 alone", fontsize=9, color=ORANGE)
    axes.set(xlim=(-0.2, 12.6), ylim=(0, 6.1))
    return fig


@figure("speculation")
def speculation():
    """The acceptance rule with the chapter's numbers: kept drafts, rejected drafts, and their replacements."""
    names = ("cat", "dog", "fox")
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.7, 0.2, 0.1])
    kept = np.minimum(p, q)
    missing = np.maximum(p - q, 0)
    refused = q - kept
    fig, axes = plt.subplots(1, 3, figsize=(8.4, 3.0), sharey=True)
    x = np.arange(len(names))
    panels = [
        ("drawn by the drafter: q", [(kept, BLUE, "kept"), (refused, RED, "refused")]),
        ("missing: p \u2212 q", [(missing, GREEN, "residual")]),
        ("together: p", [(kept, BLUE, "kept drafts"), (missing * refused.sum() / missing.sum(), GREEN, "in place of refused ones")]),
    ]
    for ax, (title, stack) in zip(axes, panels, strict=True):
        base = np.zeros(len(names))
        for values, colour, label in stack:
            ax.bar(x, values, 0.6, bottom=base, color=mix(colour, 0.75), edgecolor=colour, label=label)
            base = base + values
        for i, top in enumerate(base):
            if top > 0:
                ax.text(i, top + 0.015, f"{top:.1f}", ha="center", fontsize=9)
        ax.set_title(title)
        ax.set_xticks(x, names)
        ax.set_ylim(0, 1.0)
        ax.legend(fontsize=8.5, loc="upper right")
    axes[0].set_ylabel("probability")
    assert np.allclose(kept + missing * refused.sum() / missing.sum(), p)
    return fig


# ------------------------------------------------------------------------------------------------------------- drawing


def svg_of(name):
    """Returns a figure as SVG without dates. Ids are salted with the figure's name, so they are unique on a page."""
    plt.rcParams["svg.hashsalt"] = name
    fig = FIGURES[name]()
    out = io.StringIO()
    fig.savefig(out, format="svg", bbox_inches="tight", pad_inches=0.06, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    plt.close(fig)
    return out.getvalue().replace(INK, "currentColor")


def same(committed, drawn):
    """Returns whether two drawings are equal, with numbers within 1e-3, because processors differ in the last digits."""
    number = re.compile(r"-?\d+\.\d+")
    if number.split(committed) != number.split(drawn):
        return False
    pairs = zip(number.findall(committed), number.findall(drawn), strict=True)
    return all(abs(float(a) - float(b)) <= 1e-3 for a, b in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="figures to draw; default: all")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a committed figure differs")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(FIGURES) - set(DATA))
    if unknown:
        parser.error(f"no figure {unknown[0]!r}; there are {', '.join(sorted([*FIGURES, *DATA]))}")
    stale = []
    for name in options.names or [*FIGURES, *DATA]:
        path = LIVE / name if name in DATA else FOLDER / f"{name}.svg"
        drawn = DATA[name]() if name in DATA else svg_of(name)
        if not options.check:
            path.write_text(drawn, encoding="utf-8", newline="\n")
        elif not path.is_file() or not same(path.read_text(encoding="utf-8"), drawn):
            stale.append(name)
    if options.check:
        stale += [f"{path.stem} (drawn by nothing)" for path in FOLDER.glob("*.svg") if path.stem not in FIGURES]
        if stale:
            sys.exit(f"not what make.py draws with matplotlib {matplotlib.__version__}: {', '.join(stale)}")
        print(f"{len(FIGURES)} figures and {len(DATA)} table of numbers are as drawn")


if __name__ == "__main__":
    main()
