"""Week 1, day 6: greedy decoding, stop tokens and length, streaming text, the chat template.

Expected texts and tokens come from `transformers` and from Python's own UTF-8 decoder.
"""

from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

from oracle.fixtures import rounding

EMBEDDED = Path(__file__).resolve().parents[2] / "models" / "tiny-story"

CONFIG = {
    "model_type": "qwen3",
    "vocab_size": 61,
    "hidden_act": "silu",
    "hidden_size": 20,
    "intermediate_size": 28,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 32,
    "rope_theta": 5000.0,
    "rms_norm_eps": 1e-6,
    "tie_word_embeddings": True,
}
"""A decoder with odd sizes, whose head size is not hidden size / heads."""


def random_weights(r, config):
    """Returns signed weights and uneven norms under Hugging Face's names."""
    weights = {}
    for name, parameter in qwen3(config, torch.float32).state_dict().items():
        if name == "lm_head.weight":
            continue  # tied
        weights[name] = r.normal(*parameter.shape, mean=1.0, std=0.5) if "norm" in name else r.normal(*parameter.shape, std=0.3)
    return weights


def qwen3(config, dtype, weights=None):
    rope = {"rope_parameters": {"rope_type": "default", "rope_theta": config["rope_theta"]}}
    model = Qwen3ForCausalLM(Qwen3Config(**{k: v for k, v in config.items() if k not in ("model_type", "rope_theta")}, **rope, attn_implementation="eager"))
    if weights:
        model.load_state_dict(weights | {"lm_head.weight": weights["model.embed_tokens.weight"]})
    return model.to(dtype).eval()


def greedy(model, single, prompt, max_new_tokens, stop):
    """Returns `transformers`' greedy continuation without the stop token, whether it ended with one, the smallest margin
    between the two best logits, and the largest difference of the logits from those of `single`, the model in float32.
    """
    settings = dict(do_sample=False, max_new_tokens=max_new_tokens, eos_token_id=stop, pad_token_id=0, attention_mask=torch.ones(1, len(prompt), dtype=torch.int64))
    with torch.no_grad():
        new = model.generate(torch.tensor([prompt]), **settings)[0, len(prompt) :].tolist()
        logits, noisy = (m(torch.tensor([prompt + new])).logits[0, len(prompt) - 1 : -1] for m in (model, single))
    best, noise = logits.topk(2).values, (logits - noisy).abs().max().item()
    return [t for t in new if t not in stop], new[-1] in stop, (best[:, 0] - best[:, 1]).min().item(), noise


def next_token_cases(out):
    r = out.random(6001)
    weights = random_weights(r, CONFIG)
    tokens = r.integers(7, high=CONFIG["vocab_size"])

    def logits(tokens, **weights):
        """Returns the logits after the first 1, 4 and 7 tokens, one row each."""
        dtype = next(iter(weights.values())).dtype
        model = qwen3(CONFIG, dtype, weights)
        return torch.stack([model(tokens[None, :length]).logits[0, -1] for length in (1, 4, 7)])

    # The longest path through a layer: norm, projection, head norm, RoPE, scores, softmax, values, projection, then norm and MLP.
    e, d, i = CONFIG["hidden_size"], CONFIG["head_dim"], CONFIG["intermediate_size"]
    layer = (e + 4) + e + (d + 4) + 3 + d + 7 + 7 + 6 * d + 1 + (e + 4) + e + 6 + i + 1
    out.case(
        "task_1_next_token",
        why="a Qwen3 of two layers with random weights: only the last position's logits score the token that follows, and they depend on all tokens",
        inputs={"tokens": tokens, **weights},
        outputs=logits,
        tolerance={"output": rounding(2 * layer + 2 * e + 4, logits(tokens, **{n: w.double() for n, w in weights.items()}))},
        scalars={"config": CONFIG, "lengths": [1, 4, 7]},
    )


PROMPTS = {
    "story": (24, ["Once upon a time", "Once upon a time there was", "Once upon a time there was a little fox named Tim.", "Once upon a time, Sam was a small lizard."]),
    "question": (16, [f"Anna had a new {thing}. The {thing} was {colour}.\nQuestion: What colour was the {thing}?\nAnswer:" for thing, colour in [("ladder", "pink"), ("ball", "red"), ("bell", "brown")]]),
    "chat": (12, [[{"role": "user", "content": text}] for text in ("Tell me a story.", "Hello!", "Tell me a story about a cat.")]),
}
"""The maximum number of new tokens, and candidates for the prompt. The first whose greedy choices are all clear is used."""


def embedded_cases(out):
    if not (EMBEDDED / "model.safetensors").exists():
        raise SystemExit(f"{EMBEDDED}: the embedded model is missing; the continuations are computed with it")
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    model, single = (AutoModelForCausalLM.from_pretrained(EMBEDDED, dtype=t, attn_implementation="eager") for t in (torch.float64, torch.float32))
    stop = sorted(model.generation_config.eos_token_id)
    stops = 0
    for name, (n, prompts) in PROMPTS.items():
        margins = []
        for prompt in prompts:
            text = prompt if isinstance(prompt, str) else tokenizer.apply_chat_template(prompt, tokenize=False, add_generation_prompt=True)
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            new, stopped, margin, noise = greedy(model, single, ids, n, stop)
            # The noise depends on the order of summation: a hundred times as much must not change a choice.
            if margin > max(0.02, 100 * noise):
                break
            margins.append(margin)
        else:
            raise SystemExit(f"{name}: at some step two tokens are too close for float32, whichever prompt is taken: {margins}")
        stops += stopped
        out.case(
            f"task_2_greedy/{name}",
            seed=0,
            why=f"the embedded model continues {text!r}; the two best logits are never closer than {margin:.2f}",
            inputs={"prompt": torch.tensor(ids)},
            outputs={"new": torch.tensor(new, dtype=torch.int64)},
            scalars={"max_new_tokens": n, "stop": stop, "stopped": stopped, "text": tokenizer.decode(new)},
        )
    assert 0 < stops < len(PROMPTS), "one text should end by itself and one by its length"


def stream_cases(out):
    whole = {
        "ascii": "plain text\n".encode(),
        "two bytes each": "é à ß".encode(),
        "three bytes each": "日本語".encode(),
        "four bytes each": "😀𝄞🎈".encode(),
        "a mark that joins the letter before": "e\u0301n\u0303".encode(),
        "a family of four in one emoji": "👨‍👩‍👧".encode(),
        "a flag and a skin tone": "🇫🇷👋🏽".encode(),
        "the replacement character itself": "a\ufffdb".encode(),
        "zero and the largest character": "\x00\U0010ffff".encode(),
    }
    broken = {
        "a continuation with no beginning": b"a\x80b",
        "only continuations": b"\x80\xbf\x80",
        "never in UTF-8": b"\xfe\xff\xc0\xc1\xf5",
        "cut off after two of three": b"a\xe2\x82",
        "cut off after three of four": b"\xf0\x9f\x98",
        "two of three, then a letter": b"\xe2\x82A",
        "one of four, then a whole emoji": b"\xf0\xf0\x9f\x98\x80",
        "three of four, then two of two": b"\xf0\x9f\x98\xc3\xa9",
        "an overlong slash": b"\xe0\x80\xaf\xc0\xaf",
        "half of a surrogate pair": b"\xed\xa0\x80!",
        "beyond the last character": b"\xf4\x90\x80\x80",
        "cut off twice": b"\xc3\xe6\x97",
    }
    # Every proper prefix of a character's bytes, after which a stream must wait. (Python's incremental decoder also waits within a surrogate.)
    characters = (chr(i).encode() for i in range(0x80, 0x110000) if not 0xD800 <= i < 0xE000)
    beginnings = {character[:k] for character in characters for k in range(1, len(character))}
    examples = []
    for name, data in (whole | broken).items():
        certain = []
        for n in range(len(data) + 1):
            held_back = next((k for k in (3, 2, 1) if k <= n and data[n - k : n] in beginnings), 0)
            certain.append(data[: n - held_back].decode("utf-8", "replace"))
            assert certain[n].startswith(certain[n - 1] if n else ""), f"{name}: what was certain after {n - 1} bytes is no longer"
        examples.append({"name": name, "bytes": list(data), "text": data.decode("utf-8", "replace"), "certain": certain})
    out.case("task_3_stream/bytes", why="texts of all lengths of character, and bytes that are no text", scalars={"examples": examples})
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    text = "Lily said: “Grüße, 日本!” 👋🏽 e\u0301 👨‍👩‍👧 – end."
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert any("\ufffd" in tokenizer.decode([i]) for i in ids), "every character is one token: the text hides the mistake"
    out.case(
        "task_3_stream/tokens",
        why="tokens of the embedded model's vocabulary, many of which are parts of a character",
        outputs={"ids": torch.tensor(ids)},
        scalars={"text": text},
    )


CHATS = [
    [("user", "Hello!")],
    [("system", "You tell short stories."), ("user", "A story, please.")],
    [("user", "Hi"), ("assistant", "Hello."), ("user", "And now?")],
    [("user", "Two\nlines,\n\nand a gap.\n")],
    [("user", "")],
    [("system", ""), ("user", "  spaces around  "), ("assistant", "")],
    [("user", "Grüße, 日本 👋🏽"), ("assistant", '{"tool": "weather", "city": "Paris"}'), ("user", "a < b && \"c\" {{ d }}")],
    [],
]


def template_cases(out):
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    chats = []
    for chat in CHATS:
        messages = [{"role": role, "content": content} for role, content in chat]
        texts = [tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=g) for g in (False, True)] if chat else ["", "<|im_start|>assistant\n"]
        chats.append({"messages": messages, "text": texts[0], "prompt": texts[1]})
    out.case(
        "task_4_chat/messages",
        why="one message and several, all roles, several lines, nothing at all; with and without the beginning of an answer",
        scalars={"chats": chats},
    )
    # The tokens of one chat show that no BOS token is added and that the two markers are one token each.
    text, marks = chats[2]["prompt"], [tokenizer.convert_tokens_to_ids(t) for t in ("<|im_start|>", "<|im_end|>")]
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert [ids.count(m) for m in marks] == [4, 3]
    out.case("task_4_chat/tokens", why="each mark of the template is one token", outputs={"ids": torch.tensor(ids)}, scalars={"chat": 2, "marks": marks})
