"""Our tokenizer agrees with Hugging Face's `tokenizers` on the same `tokenizer.json`, for any text and any ids."""

import json
import random
from pathlib import Path

import pytest
import tokenizers
from tiny_llm.kit import Tokenizer

ROOT = Path(__file__).parents[2]
CASES = json.loads((ROOT / "tests/fixtures/gguf_text.json").read_text())
TEXTS = CASES.pop("texts")
# The expression of gpt-oss's pre-tokenizer.
WORDS_AS_ONE = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
# Characters on which tokenizers differ.
OFTEN = "   \n\r\t'slTab07.,<>|▁\u0301\u00a0éSΣſªǅ日/"


def words_as_one(behavior, invert):
    return {"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": WORDS_AS_ONE}, "behavior": behavior, "invert": invert}, BYTES]}


def merges_as_texts(file):
    file["model"]["merges"] = [" ".join(merge) for merge in file["model"]["merges"]]


def in_sequences(file):
    file["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "NFC"}]}
    file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [file["pre_tokenizer"]]}


def post_processor_in_a_sequence(file):
    file["post_processor"] = {"type": "Sequence", "processors": [BYTES | {"add_prefix_space": True, "use_regex": True}, file["post_processor"]]}


def for_training(file):
    file["truncation"] = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    file["model"]["unk_token"] = "<unk>"


# Variants of the files of one family, and features that no fixture has.
CHANGES = {
    "merges_as_texts": ("qwen2", merges_as_texts),
    "merges_as_texts_in_sentence_piece": ("llama2", merges_as_texts),
    "post_processor_of_qwen2": ("qwen2", lambda file: file.update(post_processor=BYTES | {"trim_offsets": False})),
    "post_processor_of_llama3": ("llama3", post_processor_in_a_sequence),
    "normal_form_c": ("gpt2", lambda file: file.update(normalizer={"type": "NFC"})),
    "whole_words": ("qwen2", lambda file: file["model"].update(ignore_merges=True)),
    "whole_words_of_smollm": ("smollm", lambda file: file["model"].update(ignore_merges=True)),
    "in_sequences": ("gpt2", in_sequences),
    "for_training": ("gpt2", for_training),
    "gpt_oss": ("qwen2", lambda file: file.update(pre_tokenizer=words_as_one("Isolated", False), normalizer=None)),
    "gpt_oss_cut_by_words": ("qwen2", lambda file: (file.update(pre_tokenizer=words_as_one("Removed", True), normalizer=None), file["model"].update(ignore_merges=True))),
    "tiny_mixture": ("qwen2", lambda file: file.update(pre_tokenizer=BYTES, normalizer={"type": "Lowercase"})),
}


def files():
    for name, case in CASES.items():
        # Skips files without a pre-tokenizer's name, or without byte tokens: no folder has these.
        if name not in ("no_name", "llama2_no_bytes"):
            yield name, case["file"]
    for what, (name, change) in CHANGES.items():
        file = json.loads(json.dumps(CASES[name]["file"]))
        change(file)
        yield what, file


def character(draw):
    kind = draw.randrange(3)
    if kind == 2:
        return draw.choice(OFTEN)
    code = draw.randrange(0x800 if kind else 0x30000)
    return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)


@pytest.mark.parametrize("file", [pytest.param(file, id=name) for name, file in files()])
def test_tokenizers_match_hugging_face(file, tmp_path, request):
    theirs = tokenizers.Tokenizer.from_str(json.dumps(file))
    theirs.no_truncation()
    size = theirs.get_vocab_size()
    config = json.loads((ROOT / "models/tiny-story/config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"vocab_size": size}))
    (tmp_path / "tokenizer.json").write_text(json.dumps(file))
    ours = Tokenizer.from_folder(tmp_path)

    assert ours.vocab_size == size
    for token in range(size):
        assert ours.decode([token]) == theirs.decode([token], skip_special_tokens=False)
    with pytest.raises(ValueError):
        ours.decode([size])
    assert ours.token_bytes(size) == b""

    draw = random.Random(request.config.option.seed)
    drawn = ["".join(character(draw) for _ in range(draw.randrange(30))) for _ in range(200)]
    for text in TEXTS + drawn:
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids
        # Ours never adds a second BOS token.
        assert ours.encode_prompt(text) == theirs.encode(text, add_special_tokens=not text.startswith("<s>")).ids
    for _ in range(200):
        ids = [draw.randrange(size) for _ in range(draw.randrange(8))]
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False)
