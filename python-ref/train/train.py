"""Trains the tokenizer, the main model, the draft model and the one-layer model, end to end, from a seed.

    python python-ref/train/train.py                     # everything, into models/
    python python-ref/train/train.py --resume            # resumes an interrupted run from its last checkpoint
    python python-ref/train/train.py --out trial --only tiny-story-draft

The log, one JSON object per line, is `training_log.jsonl` in each model's folder.
"""

import argparse
import json
import random
import time
from pathlib import Path

import torch
import torch.nn.functional as F

import corpus
from export import export
from model import Config, Decoder
from tokenizer import train_tokenizer

MODELS = Path(__file__).resolve().parents[2] / "models"

SEED = 2025
VOCAB_SIZE = 1536
ANSWER_WEIGHT = 4.0
TOKENS_PER_STEP = 2048
MAX_LENGTH = 512

SHAPES = {
    "tiny-story": Config(VOCAB_SIZE, 256, 768, 5, 4, 2, 64),
    "tiny-story-draft": Config(VOCAB_SIZE, 128, 256, 2, 4, 2, 32),
    # The shape of Tiny-LLM, except for the vocabulary.
    "tiny-llm": Config(VOCAB_SIZE, 192, 1024, 1, 2, 1, 96, rms_norm_eps=1e-5, max_position_embeddings=1024, family="llama"),
}
# `phases`: the step where each phase ends, and what draws its rows. `schedule`: for each warm-up, the step where it starts, the step where
# the rates begin to fall, and the step where they would reach zero. `muon_lr`, `adam_lr`: the peak rates.
RECIPES = {
    "tiny-story": {
        "phases": [(200, corpus.first_row), (1300, corpus.mixed_row), (1700, corpus.late_row)],
        "schedule": [(0, 650, 1300), (1300, 1400, 1700)],
        "muon_lr": 0.02,
        "adam_lr": 1e-3,
    },
    "tiny-llm": {"phases": [(1500, corpus.mixed_row)], "schedule": [(0, 600, 1500)], "muon_lr": 0.02, "adam_lr": 2e-3},
    "tiny-story-draft": {"phases": [(800, corpus.mixed_row)], "schedule": [(0, 300, 800)], "muon_lr": 0.02, "adam_lr": 2e-3},
}
WARMUP = 50


def held_out():
    return corpus.held_out(seed=SEED + 1, n_stories=100, n_per_kind=40, n_tool_calls=40)


def make_tokenizer():
    rng = random.Random(SEED + 2)
    return train_tokenizer((corpus.mixed_row(rng).text for _ in range(30_000)), VOCAB_SIZE)


def encode(tokenizer, rows):
    """Returns, for each row that is not too long, the token ids and the weight of each token as a target."""
    encoded = []
    for row, encoding in zip(rows, tokenizer.encode_batch([row.text for row in rows])):
        weights = [1.0] * len(encoding.ids)
        for i, (start, _) in enumerate(encoding.offsets):
            if any(first <= start < last for first, last in row.answers):
                weights[i] = ANSWER_WEIGHT
        if len(encoding.ids) <= MAX_LENGTH:
            encoded.append((encoding.ids, weights))
    return encoded


def batches(tokenizer, make_row, excluded, rng):
    """Yields endless (ids, weights) tensors of about TOKENS_PER_STEP tokens.

    Each row starts at position 0, so that a question and its story are always in one window. Rows of similar length
    share a batch, which keeps the padding (weight 0) small.
    """
    while True:
        rows = [row for row in (make_row(rng) for _ in range(2048)) if excluded.isdisjoint(row.sources)]
        rows = sorted(encode(tokenizer, rows), key=lambda row: len(row[0]))
        pool = []
        while rows:
            length = len(rows[-1][0])
            take = max(1, TOKENS_PER_STEP // length)
            chosen, rows = rows[-take:], rows[:-take]
            ids = torch.zeros(len(chosen), length, dtype=torch.long)
            weights = torch.zeros(len(chosen), length)
            for i, (row_ids, row_weights) in enumerate(chosen):
                ids[i, : len(row_ids)] = torch.tensor(row_ids)
                weights[i, : len(row_ids)] = torch.tensor(row_weights)
            pool.append((ids, weights))
        rng.shuffle(pool)
        yield from pool


def loss_of(model, ids, weights):
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(ids[:, :-1])
    losses = F.cross_entropy(logits.float().flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
    weights = weights[:, 1:].flatten()
    return (losses * weights).sum() / weights.sum()


@torch.no_grad()
def quick_scores(model, tokenizer, questions):
    """Returns the share of right answers by kind, teacher-forced: each token but the last must be the likeliest one."""
    right, asked = {}, {}
    for question in questions:
        separator = "" if question["kind"] == "tool_call" else " "
        prompt = tokenizer.encode(question["prompt"]).ids
        answer = tokenizer.encode(separator + question["answer"]).ids
        logits = model(torch.tensor([prompt + answer]))[0, len(prompt) - 1 : -1]
        kind = question["kind"]
        asked[kind] = asked.get(kind, 0) + 1
        # The last token is the full stop, whose form depends on what follows. evaluate.py checks it.
        right[kind] = right.get(kind, 0) + (logits.argmax(-1).tolist()[:-1] == answer[:-1])
    return {kind: round(right[kind] / asked[kind], 3) for kind in asked}


def rate(step, recipe):
    """Returns the learning rate as a share of its peak: a warm-up, a plateau, then a linear fall to zero."""
    start, fall, zero = max(entry for entry in recipe["schedule"] if entry[0] <= step)
    return min(1.0, (step - start + 1) / WARMUP, (zero - step) / (zero - fall))


def train(name, recipe, tokenizer, out, resume):
    torch.manual_seed(SEED)
    model = Decoder(SHAPES[name])
    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "model.layers" in n]
    others = [p for n, p in model.named_parameters() if p.ndim != 2 or "model.layers" not in n]
    optimizers = [
        torch.optim.Muon(matrices, lr=recipe["muon_lr"], weight_decay=0.01),
        torch.optim.AdamW(others, lr=recipe["adam_lr"], betas=(0.9, 0.98), weight_decay=0.0),
    ]
    _, questions, excluded = held_out()
    phases = [(end, batches(tokenizer, rows, excluded, random.Random(SEED + 3 + i))) for i, (end, rows) in enumerate(recipe["phases"])]
    steps = phases[-1][0]

    log = {"loss": None, "tokens": 0, "minutes": 0.0}
    checkpoint, done = out / f"{name}.checkpoint", 0
    if resume and checkpoint.exists():
        saved = torch.load(checkpoint)
        done, log = saved["step"], saved["log"]
        model.load_state_dict(saved["model"])
        for optimizer, state in zip(optimizers, saved["optimizers"]):
            optimizer.load_state_dict(state)

    begin = time.time() - 60 * log["minutes"]
    for step in range(steps):
        ids, weights = next(next(rows for end, rows in phases if step < end))
        if step < done:
            continue  # a resumed run skips the batches that it has seen
        loss = loss_of(model, ids, weights)
        loss.backward()
        for optimizer, peak in zip(optimizers, (recipe["muon_lr"], recipe["adam_lr"])):
            optimizer.param_groups[0]["lr"] = peak * rate(step, recipe)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        log["tokens"] += int((weights > 0).sum())
        log["loss"] = 0.95 * (log["loss"] or loss.item()) + 0.05 * loss.item()
        log["minutes"] = (time.time() - begin) / 60
        last = step + 1 == steps
        if (step + 1) % 50 == 0 or last:
            entry = {"model": name, "step": step + 1} | {key: round(value, 4) for key, value in log.items()}
            if (step + 1) % 200 == 0 or last:
                entry["exact"] = quick_scores(model, tokenizer, questions)
                export(model, tokenizer, out / name)
                states = [optimizer.state_dict() for optimizer in optimizers]
                torch.save({"step": step + 1, "log": log, "model": model.state_dict(), "optimizers": states}, checkpoint)
            yield entry


def write_held_out(folder):
    stories, questions, _ = held_out()
    folder.mkdir(parents=True, exist_ok=True)
    for file, entries in (("stories.jsonl", [{"text": text} for text in stories]), ("questions.jsonl", questions)):
        (folder / file).write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=MODELS)
    parser.add_argument("--only", choices=SHAPES, help="train only this model")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoints in --out")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    write_held_out(args.out / "eval")
    tokenizer = make_tokenizer()
    for name in [args.only] if args.only else SHAPES:
        (args.out / name).mkdir(exist_ok=True)
        with open(args.out / name / "training_log.jsonl", "a" if args.resume else "w") as log:
            for entry in train(name, RECIPES[name], tokenizer, args.out, args.resume):
                print(json.dumps(entry), file=log, flush=True)
                print(entry, flush=True)


if __name__ == "__main__":
    main()
