"""Figures that replace the live pieces of the engine in print and without JavaScript."""

import json
import sys
import textwrap

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from style import BLUE, GREY, ORANGE, REPOSITORY, bare, figure, mix


@figure("schedule")
def schedule():
    """Rows of each step of week 3's engine, and the owner of each page, as recorded by `web/src/bin/pack.rs`."""
    crowd = json.loads((REPOSITORY / "book" / "figures" / "crowd.json").read_text(encoding="utf-8"))
    steps = crowd["steps"][:13]
    names = "ABCDEF"
    fig, (axes, below) = plt.subplots(2, 1, figsize=(4.9, 4.0), height_ratios=[6.6, 8])
    shown = [name for i, name in enumerate(names) if i < len(steps[-1]["requests"])]
    for x, step in enumerate(steps):
        axes.text(x + 0.47, 1.15, step["step"], ha="center", va="bottom", fontsize=8, color=GREY)
        axes.text(x + 0.47, -len(shown) + 0.4, step["rows"], ha="center", va="center", fontsize=8)
        for i, request in enumerate(step["requests"]):
            if request["rows"]:
                reads = request["rows"] > 1
                axes.add_patch(Rectangle((x, -i), 0.94, 0.94, facecolor=mix(ORANGE if reads else BLUE, 0.6), edgecolor="none"))
                axes.text(x + 0.47, 0.46 - i, request["rows"], ha="center", va="center", fontsize=8)
            elif request["state"] == "waits":
                axes.text(x + 0.47, 0.46 - i, "·", ha="center", va="center", color=GREY)
        for page, owner in enumerate(step["pages"]):
            taken = owner is not None
            below.add_patch(Rectangle((x, -page), 0.94, 0.94, facecolor=mix(GREY, 0.35 if taken else 0.0), edgecolor=GREY, linewidth=0.4))
            below.text(x + 0.47, 0.46 - page, names[owner] if taken else "", ha="center", va="center", fontsize=8)
    for i, name in enumerate(shown):
        axes.text(-0.3, 0.46 - i, name, ha="right", va="center", fontsize=9)
    axes.text(-0.3, 1.15, "step", ha="right", va="bottom", fontsize=8, color=GREY)
    axes.text(-0.3, -len(shown) + 0.4, "rows", ha="right", va="center", fontsize=8)
    below.text(-0.3, 0.46 - 3.5, "pages after the step", ha="right", va="center", fontsize=9, rotation=90)
    axes.set_xlim(-1.6, len(steps))
    below.set_xlim(-1.6, len(steps))
    axes.set_ylim(-len(shown) - 0.1, 2)
    below.set_ylim(-7.1, 1)
    bare(axes)
    bare(below)
    fig.subplots_adjust(hspace=0.06)
    return fig


@figure("story")
def story():
    """A story of the embedded model. Bars show each word's attention weight for the last word."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    folder = REPOSITORY / "models" / "tiny-story"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    prompt = "Once upon a time"
    ids = tokenizer(prompt, return_tensors="pt").input_ids
    prompted = ids.shape[1]
    with torch.no_grad():
        for _ in range(80):
            out = model(ids, output_attentions=True)
            ids = torch.cat([ids, out.logits[:, -1:].argmax(-1)], dim=1)
            if tokenizer.decode(ids[0]).endswith(" was purple"):
                break
        else:
            sys.exit("story: this model tells another story: change the figure")
    weights = torch.stack(out.attentions)[:, 0, :, -1].double().mean(dim=(0, 1)).numpy()
    # Rounded to tenths, so that every machine draws the same figure.
    weights = np.round(weights / weights.max() * 10) / 10
    words = [tokenizer.decode([i]) for i in ids[0].tolist()]
    columns = 40
    lines = textwrap.wrap("".join(words), columns)
    fig, axes = plt.subplots(figsize=(4.9, 0.34 * len(lines)))
    line, column = 0, 0
    for index, word in enumerate(words):
        bare_word = word.strip()
        # `wrap` removes the space at which it breaks a line.
        if column >= len(lines[line]):
            line, column = line + 1, 0
        if word.startswith(" ") and column > 0:
            column += 1
        style = {"fontweight": "bold"} if index < prompted else {}
        axes.text(column, -line, bare_word, family="DejaVu Sans Mono", fontsize=9.5, va="baseline", **style)
        if index < len(weights) and weights[index] > 0:
            thick = 0.3 * weights[index]
            axes.add_patch(Rectangle((column, -line - 0.16 - thick), len(bare_word), thick, facecolor=ORANGE, edgecolor="none"))
        if index == len(words) - 1:
            axes.add_patch(Rectangle((column - 0.2, -line - 0.25), len(bare_word) + 0.4, 1.0, fill=False, edgecolor=BLUE, linewidth=1.4))
        column += len(bare_word)
    axes.set(xlim=(-0.3, columns + 0.3), ylim=(-len(lines) + 0.4, 0.9))
    bare(axes)
    return fig
