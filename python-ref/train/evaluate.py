"""Measures the shipped models on held-out stories, through transformers, in f32.

    python python-ref/train/evaluate.py           # prints the report, writes eval/scores.json and the model cards
    python python-ref/train/evaluate.py --check   # fails when scores.json disagrees, or below 95 %
"""

import argparse
import json
import re
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import words as w
from corpus import CHANCE, END_OF_TEXT

MODELS = Path(__file__).resolve().parents[2] / "models"
MAIN, DRAFT = "tiny-story", "tiny-story-draft"
REQUIRED = 0.95
BATCH, LONGEST_ANSWER = 40, 48
DEFINITIONS = {
    "perplexity": "exp(mean negative log-likelihood per token) over eval/stories.jsonl; each story is one sequence from "
    "position 0, followed by <|endoftext|>; the first token is not predicted, <|endoftext|> is",
    "exact": "share of eval/questions.jsonl answered exactly: continue `prompt` greedily, cut at the first new line or "
    "end token, strip white space, compare with `answer`",
    "chance": "probability of a right answer for someone who knows the word lists but has not read the story",
    "guess_in_story": "probability of a right answer for someone who picks at random among the words of the right list "
    "that the story mentions",
    "draft_agreement": "share of the tokens of eval/stories.jsonl, as for perplexity, at which the likeliest token of "
    "the draft is that of the main model",
}
# The list of possible answers of each kind.
LISTS = {
    "name": w.NAMES,
    "animal": w.ANIMALS,
    "home": w.HOMES,
    "colour": w.COLOURS,
    "number": w.NUMBERS,
    "food": w.FOODS,
    "place": w.PLACES,
    "feeling": w.GOOD + w.BAD,
    "receiver": w.NAMES,
}


def read(file):
    return [json.loads(line) for line in (MODELS / "eval" / file).read_text().splitlines()]


def load(name):
    model = AutoModelForCausalLM.from_pretrained(MODELS / name, dtype=torch.float32)
    return model.eval(), AutoTokenizer.from_pretrained(MODELS / name)


@torch.no_grad()
def read_stories(model, tokenizer, stories):
    """Returns the perplexity of `stories`, and the likeliest token at every position."""
    total, likeliest = 0.0, []
    for story in stories:
        ids = tokenizer(story["text"] + END_OF_TEXT, return_tensors="pt").input_ids
        logits = model(ids).logits[0, :-1]
        total += torch.nn.functional.cross_entropy(logits, ids[0, 1:], reduction="sum").item()
        likeliest += logits.argmax(-1).tolist()
    return round(float(torch.tensor(total / len(likeliest)).exp()), 4), likeliest


@torch.no_grad()
def answers(model, tokenizer, prompts, stops):
    """Returns greedy continuations up to the first newline. Prompts are padded on the left, so that all end together."""
    ids = tokenizer(prompts, return_tensors="pt", padding=True, padding_side="left")
    out = model.generate(
        input_ids=ids.input_ids,
        attention_mask=ids.attention_mask,
        max_new_tokens=LONGEST_ANSWER,
        do_sample=False,
        eos_token_id=stops,
    )
    texts = tokenizer.batch_decode(out[:, ids.input_ids.shape[1] :], skip_special_tokens=True)
    return [text.split("\n")[0].strip() for text in texts]


def exact_answers(model, tokenizer, questions):
    """Returns the share of exact answers per kind, and for "all"."""
    stops = [i for i in range(len(tokenizer)) if "\n" in tokenizer.decode([i])] + model.generation_config.eos_token_id
    marks = {}
    for first in range(0, len(questions), BATCH):
        batch = questions[first : first + BATCH]
        texts = answers(model, tokenizer, [question["prompt"] for question in batch], stops)
        for question, text in zip(batch, texts):
            marks.setdefault(question["kind"], []).append(text == question["answer"])
    every = [mark for kind in marks.values() for mark in kind]
    return {"all": share(every)} | {kind: share(mark) for kind, mark in marks.items()}


def share(marks):
    return round(sum(marks) / len(marks), 4)


def guess_in_story(questions):
    """Returns, per kind, the probability of a right guess among the words that the story mentions."""
    levels = {}
    for question in questions:
        if question["kind"] in LISTS:
            story = question["prompt"].split("\nQuestion:")[0]
            mentioned = sum(bool(re.search(rf"\b{word}\b", story)) for word in LISTS[question["kind"]])
            levels.setdefault(question["kind"], []).append(1 / mentioned)
    return {kind: share(level) for kind, level in levels.items()}


def measure():
    stories, questions = read("stories.jsonl"), read("questions.jsonl")
    scores = {"definitions": DEFINITIONS, "stories": len(stories), "questions": len(questions)}
    likeliest = {}
    for name in (MAIN, DRAFT):
        model, tokenizer = load(name)
        perplexity, likeliest[name] = read_stories(model, tokenizer, stories)
        scores[name] = {
            "parameters": sum(p.numel() for p in model.parameters()),
            "perplexity": perplexity,
            "exact": exact_answers(model, tokenizer, questions),
        }
    scores["draft_agreement"] = share([a == b for a, b in zip(likeliest[MAIN], likeliest[DRAFT])])
    scores["chance"] = {kind: round(chance, 4) for kind, chance in CHANCE.items()}
    scores["guess_in_story"] = guess_in_story(questions)
    return scores


def report(scores):
    """Returns the tables of the model cards."""
    lines = ["| model | parameters | perplexity |", "|---|---|---|"]
    for name in (MAIN, DRAFT):
        lines.append(f"| {name} | {scores[name]['parameters']:,} | {scores[name]['perplexity']:.4f} |")
    lines += ["", f"The draft's likeliest token is the main model's at {scores['draft_agreement']:.1%} of the positions.", ""]
    lines += ["| answered exactly | main | draft | guess among words of the story | chance |", "|---|---|---|---|---|"]
    percent = lambda level, kind: f"{level[kind]:.1%}" if kind in level else ""
    for kind in scores[MAIN]["exact"]:
        columns = [scores[MAIN]["exact"], scores[DRAFT]["exact"], scores["guess_in_story"], scores["chance"]]
        lines.append(f"| {kind} | " + " | ".join(percent(column, kind) for column in columns) + " |")
    return "\n".join(lines)


def write_cards(table):
    """Writes the table between the two markers of each model card, so that the cards always have these scores."""
    for name in (MAIN, DRAFT):
        card = MODELS / name / "README.md"
        head, rest = card.read_text().split("<!-- scores -->\n")
        _, tail = rest.split("<!-- end of scores -->\n")
        card.write_text(f"{head}<!-- scores -->\n{table}\n<!-- end of scores -->\n{tail}")


def disagreements(measured, written):
    """Yields scores that are too low, or too far from the written ones. Processors round differently: perplexity may differ by 0.1 %, shares by 0.03."""
    for name in (MAIN, DRAFT):
        old, new = written[name], measured[name]
        if abs(old["perplexity"] - new["perplexity"]) > 1e-3 * old["perplexity"]:
            yield f"{name}: perplexity {new['perplexity']}, written {old['perplexity']}"
        for kind, exact in new["exact"].items():
            if abs(exact - old["exact"][kind]) > 0.03:
                yield f"{name}: {kind} {exact}, written {old['exact'][kind]}"
    if measured[MAIN]["exact"]["all"] < REQUIRED:
        yield f"{MAIN}: {measured[MAIN]['exact']['all']} of the questions, {REQUIRED} required"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with scores.json instead of writing it")
    args = parser.parse_args()
    path = MODELS / "eval" / "scores.json"
    scores = measure()
    print(report(scores))
    if not args.check:
        path.write_text(json.dumps(scores, indent=2) + "\n")
        write_cards(report(scores))
        return
    wrong = list(disagreements(scores, json.loads(path.read_text())))
    print("\n".join(wrong) or "scores.json agrees")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
