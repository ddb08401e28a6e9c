"""Day 6: greedy decoding, stop tokens and length, streaming text, the chat template."""

import codecs
from pathlib import Path

import jinja2
import oracle.week1_day5 as decoder
import pytest
import torch
from live import close
from test_week1_day5 import FAMILIES, kit_config, logits_of, random_config, random_tokens, without_layers
from transformers import AutoModelForCausalLM, AutoTokenizer

EMBEDDED = Path(__file__).resolve().parents[2] / "models" / "tiny-story"


@pytest.fixture(scope="module")
def embedded():
    """Returns the embedded model in float64, and its tokenizer."""
    return AutoModelForCausalLM.from_pretrained(EMBEDDED, dtype=torch.float32).double(), AutoTokenizer.from_pretrained(EMBEDDED)


def test_week1_day6_task_1_argmax(week1, r):
    logits = r.normal(r.size(1, 30), std=3.0).round(decimals=r.choice(0, 3)) - r.choice(0.0, 20.0)  # whole numbers: many are equal
    assert week1.generate.argmax(logits) == int((logits == logits.max()).nonzero()[0])


@pytest.mark.parametrize("family", FAMILIES)
def test_week1_day6_task_1_next_token_logits(week1, r, family):
    week1.generate.next_token_logits(without_layers(week1, r)[0], [0])
    config = random_config(r, family)
    weights, tokens = decoder.draw_model(r, config), random_tokens(r, config)[0]
    model = week1.model.Model.build(kit_config(config), weights)
    logits, tolerance = logits_of(config, weights, tokens[None])
    close(week1.generate.next_token_logits(model, tokens), logits[0, -1], tolerance)


def test_week1_day6_task_2_generate(week1, r):
    """Compares every limit, and the number of calls, with the definition. The model returns the tokens of a list, one after another."""
    g = week1.generate
    planned = r.integers(40, high=9).tolist()
    prompt = r.integers(r.size(1, 6), high=9).tolist()
    limits = {"max_new_tokens": r.size(0, 12), "context": len(prompt) + r.size(0, 12), "stop_tokens": set(r.integers(r.size(0, 1), high=9).tolist())}
    interrupt = r.choice(0, r.size(1, 12))  # the number of tokens before an interruption, or 0 for none

    expected, calls = [], 0
    while True:
        if len(expected) == limits["max_new_tokens"]:
            reason = g.FinishReason.Length
        elif len(prompt) + len(expected) == limits["context"]:
            reason = g.FinishReason.ContextFull
        elif planned[calls] in limits["stop_tokens"]:
            reason, calls = g.FinishReason.Stop, calls + 1
        else:
            expected.append(planned[calls])
            calls += 1
            if len(expected) != interrupt:
                continue
            reason = g.FinishReason.Interrupted
        break

    seen_by_model, new = [], []

    def next_logits(tokens):
        seen_by_model.append(tokens)
        return torch.nn.functional.one_hot(torch.tensor(planned[len(seen_by_model) - 1]), 9)

    def choose(logits, tokens):
        assert tokens == seen_by_model[-1], "`choose` gets the tokens that the logits follow"
        return int(logits.argmax())

    def on_token(token):
        new.append(token)
        return len(new) == interrupt

    assert g.generate(next_logits, prompt, g.Limits(**limits), choose, on_token) == reason, limits
    assert new == expected
    assert seen_by_model == [prompt + expected[:n] for n in range(calls)], "each step scores the prompt and all new tokens"


def test_week1_day6_task_2_rejects_invalid_prompts(week1):
    def generate(prompt):
        return week1.generate.generate(lambda tokens: [0.0], prompt, week1.generate.Limits(3, 4), lambda *_: 0, lambda _: None)

    with pytest.raises(ValueError, match="empty"):
        generate([])
    with pytest.raises(ValueError, match="5.*4"):
        generate([0] * 5)


def test_week1_day6_task_2_embedded_model(solution, embedded, r, request):
    """Checks that the embedded model continues random beginnings of a story as `transformers` does."""
    if r.number > 2 and not request.config.option.thorough:
        return
    llm, model, tokenizer = solution.load(EMBEDDED), *embedded
    story = tokenizer("Once upon a time there was a little fox named Tim. Tim liked to play in the garden. One day, Tim found a red ball.")["input_ids"]
    prompt = story[: r.size(1, len(story))]
    stop = model.generation_config.eos_token_id
    with torch.no_grad():
        tokens = torch.tensor([prompt])
        expected = model.generate(tokens, attention_mask=torch.ones_like(tokens), do_sample=False, max_new_tokens=12, pad_token_id=0)[0, len(prompt) :]
        expected = [t for t in expected.tolist() if t not in stop]
        found = llm.generate(prompt, 12).tokens
        if found == expected:
            return
        # A different token is allowed only where the two best logits are within rounding of each other.
        at = next((i for i, (f, e) in enumerate(zip(found, expected)) if f != e), min(len(found), len(expected)))
        logits = model(torch.tensor([prompt + expected[:at]])).logits[0, -1]
        best, second = logits.topk(2).values.tolist()
        assert best - second < 1e-3, f"after {tokenizer.decode(prompt)!r}: found {tokenizer.decode(found)!r}, expected {tokenizer.decode(expected)!r}"


ALPHABETS = ["a b\n", "éàßñ", "日本語–“", "😀🎈𝄞👋🏽👨‍👩‍👧"]


def test_week1_day6_task_3_text_stream(week1, r):
    """Splits random text anywhere, sometimes with bytes missing. Python's incremental decoder gives the expected parts."""
    data = bytearray("".join(r.random.choices("".join(ALPHABETS), k=40)).encode())
    for _ in range(r.choice(0, 0, 3)):
        del data[r.random.randrange(len(data))]
    stream, theirs, text = week1.stream.TextStream(), codecs.getincrementaldecoder("utf-8")("replace"), ""
    at = 0
    while at < len(data):
        piece = bytes(data[at : at + r.size(0, 5)])
        at += len(piece)
        found = stream.push(piece)
        assert found == theirs.decode(piece), f"after {bytes(data[:at])!r}"
        text += found
    text += stream.finish()
    assert text == bytes(data).decode("utf-8", "replace")
    assert stream.finish() == "", "nothing is left"


CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def random_chat(r):
    return [(r.choice("system", "user", "assistant"), "".join(r.random.choices("".join(ALPHABETS) + "{}%<|>\"'", k=r.size(0, 12)))) for _ in range(r.size(0, 4))]


def test_week1_day6_task_4_chatml(week1, r):
    template = jinja2.Template(CHATML, keep_trailing_newline=True)
    chat, prompt = random_chat(r), r.choice(True, False)
    messages = [{"role": role, "content": content} for role, content in chat]
    assert week1.chat.chatml(chat, prompt) == template.render(messages=messages, add_generation_prompt=prompt)


def test_week1_day6_task_4_embedded_chat_template(week1, embedded, r):
    """Compares the embedded model's own template with `transformers`' rendering."""
    chat, prompt = random_chat(r) or [("user", "Hi")], r.choice(True, False)
    messages = [{"role": role, "content": content} for role, content in chat]
    expected = embedded[1].apply_chat_template(messages, tokenize=False, add_generation_prompt=prompt)
    assert week1.chat.chatml(chat, prompt) == expected
