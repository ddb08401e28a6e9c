"""Token ids from Hugging Face's tokenizers, and the metadata of GGUF files with these tokenizers: `tests/fixtures/gguf_text.json`.

The tokenizers are small and trained here, with the pre-tokenizers and normalizers of the model families that we read. The metadata is
what llama.cpp's converter writes. It is built here, independently of the code under test. The texts are hand-picked ones and random
strings of characters on which tokenizers differ.
"""

import json
import random
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast
from transformers.tokenization_utils_base import generate_merges

from oracle.text import TextFixtures

FIXTURES = TextFixtures

LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")

CORPUS = [
    "Hello, world! This is a small text about words, and it's short; they're shorter, I'll bet, and we've said so.",
    "The world of words is small; this is a text. The quick brown fox jumps over the lazy dog, 12345 times in 2024.",
    "def add(a, b):\n    return a + b\n\n\nclass Point:\n\tx = 1\n\ty = 2  # two\n        deep = [[0] * 10 for _ in range(10)]\n",
    "Élève déjà à Noël: naïve café, œuvre — “quotes” … ‘single’. Größe, Übermut, straße.",
    "Привет, мир! Это небольшой текст о словах. Съешь ещё этих мягких французских булок.",
    "日本語のテキスト、漢字と仮名。今日は良い天気です。你好，世界！这是一个关于词的小文本。안녕하세요 세계, 작은 글입니다.",
    "مرحبا بالعالم، هذا نص صغير. שלום עולם. नमस्ते दुनिया, यह एक छोटा पाठ है। สวัสดีชาวโลก",
    "😀 😃 👍🏽 👩‍👩‍👧‍👦 🇫🇷 🏳️‍🌈 ❤️ ✨ 🚀🚀 🦙 x² ≠ ½ + ⅓ ± √2 ∑ ∞ £5 €10 ¥100 $7.50 50% #1 @you a_b c-d e/f \\n",
    "ſo\nſo\nſo\nſound\nſound\nſound\n",
    "   three spaces\n\n\n   and\ttabs\t\there \r\n windows lines\r\n\r\nend",
] * 3

TEXTS = [
    "", " ", "  ", "\n", "\n\n", "\t", " \n", "\n ", "a", " a", "a ", "  a", "Hello, world!", "   leading", "trailing   ", "in   between",
    "line\nline", "line \n line", "para\n\n\npara", "\r\nwindows\r\n\r\n", "tabs\t\tand \t mixed \t\n", "    indented\n        more\n\tcode = {'a': 1}",
    "it's they're we've I'm you'll he'd don't", "IT'S THEY'RE WE'VE I'M YOU'LL HE'D DON'T", "'s'S'ſ 'Re 'lL x'y 'tis ''quoted''", "o'clock's rock'n'roll ’s ’t", "'ſound 'ſo it'ſo",
    "0 1 12 123 1234 12345 123456 1234567", "3.14159 1,000,000 2024-01-02 12:34:56 0x1F 1e-9 v1.2.3", "x1y22z333 ½ ² ³ Ⅷ ٣٤ ೩ 一二三 ①②", "a1 b  2  3   c",
    "héllo wörld ÀÉÎ ñ ß ø Æ œ", "e\u0301 a\u0308 n\u0303 o\u0302\u0323 decomposed \u212b \ufb01 \u1e9b\u0323", "Привет, мир! ёлка", "日本語のテキスト。漢字", "你好，世界！", "안녕하세요 세계 \u1112\u1161\u11ab",
    "مرحبا بالعالم", "שָׁלוֹם", "नमस्ते दुनिया", "สวัสดี", "😀", "a😀b", "👍🏽👩‍👩‍👧‍👦 🇫🇷🏳️‍🌈", " 🚀 🚀🚀", "\ufffd", "a\ufffdb \ufffd\ufffd", "\x00", "a\x00b\x01\x7f", "\u200b\u200d\ufeff\u00ad",
    "\u00a0nbsp\u00a0\u00a0x \u2003em \u3000ideographic \u2028line\u2029para \u0085nel \u000b \u000c", "!!! ??? ... --- *** ___ === /// \\\\\\", "(a)[b]{c}<d>\"e\"`f`~g~^h^|i|&j&@k#l$m%n",
    "https://example.com/a?b=c&d=1#e user@mail.org", "SELECT * FROM t WHERE x >= 10 AND y != 'z';\n", "|a|b|\n|---|---|\n|1|2|", "ﬀ ﬁ Ǆ ǆ ʼn ſ K Å", "a\u0300\u0301\u0302\u0303 zalgo\u0336\u0337",
    "<s>", "</s>", "<unk>", "<s>a</s>", " <s> a </s> ", "<s><s>", "a<s> b<unk>c", "<|im_start|>user\nHi <|im_end|>\n<|im_start|>assistant\n", "<|im_start", "<|im_start|", "<tool>x</tool> <tool", "<tool><tool>more",
    "▁", "▁a ▁▁ b▁", "<0x41> <0xZZ> <0x0A>", "Ġa Ċ ĉ", "aaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "                                        x", "ababababab the the thethethe",
    "This is a small text about words, and it's short. The world of words is small; this is a text.",
]

# Characters and strings on which tokenizers differ, for random texts.
ALPHABET = [*" \n\t\r'sStTdDmMlLrReEvVaabc019.,!?-_()<|>\"", "  ", "\r\n", "\u00a0", "\u3000", "é", "e\u0301", "ſ", "ß", "ж", "日", "本", "の", "한", "ا", "ш", "½", "²", "٣", "😀", "👍🏽", "\u200d", "\ufffd", "▁", "…", "€", "\u0301", "<s>", "<tool>", "<|im_end|>", " the", "ing", "ab"]


def texts():
    draw = random.Random(7)
    return TEXTS + ["".join(draw.choices(ALPHABET, k=draw.randrange(1, 40))) for _ in range(120)]


SPECIALS = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"]
USER = ["<tool>", "<tool><tool>", "</tool>"]


def trained(pre_tokenizer, vocab_size, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer = pre_tokenizer
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, special_tokens=SPECIALS, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in USER])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def begin(tokenizer, token="<s>"):
    bos = processors.TemplateProcessing(single=f"{token} $A", pair=f"{token} $A {token} $B", special_tokens=[(token, tokenizer.token_to_id(token))])
    tokenizer.post_processor = bos
    return tokenizer


def split(pattern):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def gpt2():
    return trained(pre_tokenizers.ByteLevel(add_prefix_space=False), 560)


def llama3():
    """Returns a tokenizer like Llama 3's, which looks up a whole word before it merges. Some words cannot be merged, to show the difference."""
    tokenizer = begin(trained(split(LLAMA3), 560, ignore_merges=True))
    file = json.loads(tokenizer.to_str())
    file["model"]["merges"] = [merge for i, merge in enumerate(file["model"]["merges"]) if i % 7 != 6]
    kept = {token for merge in file["model"]["merges"] for token in (*merge, "".join(merge))}
    assert any(token not in kept for token in file["model"]["vocab"] if len(token) > 1)
    return Tokenizer.from_str(json.dumps(file))


def llama3_without_whole_words():
    return trained(split(LLAMA3), 420)


def qwen2():
    tokenizer = trained(split(QWEN2), 560)
    tokenizer.normalizer = normalizers.NFC()
    return tokenizer


def qwen2_without_nfc():
    return trained(split(QWEN2), 420)


def no_name():
    """Returns a tokenizer with llama.cpp's default pre-tokenizer, for files that name none: four expressions, applied in turn."""
    cuts = [r"[\p{P}$+<=>^~|]+", r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)", r"\p{N}+", r"[0-9][0-9][0-9]"]
    steps = [pre_tokenizers.Split(Regex(cut), "isolated") for cut in cuts]
    return trained(pre_tokenizers.Sequence([*steps, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]), 560)


def smollm():
    return trained(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]), 560)


def sentence_piece(scores, byte_fallback=True, **where):
    """Returns a tokenizer whose merges transformers derives from `scores`, pairs of a piece and its score. Returns the scores of all ids too."""
    special = SPECIALS[:3]
    pieces = [(token, 0.0) for token in special] + [(f"<0x{byte:02X}>", 0.0) for byte in range(256) if byte_fallback] + list(scores)
    vocab = {token: i for i, (token, _) in enumerate(pieces)}
    merges = generate_merges(vocab, dict(pieces), skip_tokens=special)
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=byte_fallback))
    tokenizer.normalizer = where.get("normalizer")
    if "pre_tokenizer" in where:
        tokenizer.pre_tokenizer = where["pre_tokenizer"]
    strip = [decoders.Strip(" ", 1, 0)] if where.get("strip", True) else []
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *strip])
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in [*special, *SPECIALS[3:]]])
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in USER])
    return begin(tokenizer), [score for _, score in pieces]


def pieces(vocab_size):
    """Trains byte-pair encoding. Returns the pieces with scores that fall in the order of the merges, as in Llama 2."""
    trainer_of = Tokenizer(models.BPE())
    trainer_of.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    # Trains on Latin and Cyrillic texts only, so that characters of other scripts have no token.
    trainer_of.train_from_iterator(CORPUS[:5], trainers.BpeTrainer(vocab_size=vocab_size, show_progress=False))
    vocab = trainer_of.get_vocab()
    ordered = sorted(vocab, key=vocab.get)
    runs = ["▁▁", "▁▁▁▁", "▁▁▁▁▁▁▁▁", "▁▁▁"]
    made = runs + [token for token in ordered if len(token) > 1 and token not in runs]
    return [(token, -float(i)) for i, token in enumerate(made)] + [(token, -float(len(made) + i)) for i, token in enumerate(t for t in ordered if len(t) == 1)]


PREPEND = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])


def llama2():
    return sentence_piece(pieces(500), normalizer=PREPEND)


def llama2_other_scores():
    """Returns a tokenizer whose scores resemble log probabilities and do not follow the order of ids."""
    text = "▁".join(CORPUS)
    ranked = sorted((token for token, _ in pieces(400)), key=lambda token: (-text.count(token) * len(token), token))
    return sentence_piece([(token, -2.0 - 0.03125 * ranked.index(token)) for token in sorted(ranked)], normalizer=PREPEND)


def llama2_no_space():
    return sentence_piece(pieces(400), normalizer=normalizers.Replace(" ", "▁"), strip=False)


def llama2_no_bytes():
    """Returns a tokenizer without byte tokens: a run of characters without a token is one unknown token."""
    return sentence_piece(pieces(400), byte_fallback=False, normalizer=PREPEND)


def llama2_metaspace_first():
    return sentence_piece(pieces(400), pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="first", split=False))


def llama2_metaspace_always():
    return sentence_piece(pieces(400), pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="always", split=False))


def byte_level_metadata(tokenizer, pre, padded_to):
    file = json.loads(tokenizer.to_str())
    tokens, types = vocabulary(tokenizer, file, padded_to)
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": pre,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.merges": [" ".join(merge) for merge in file["model"]["merges"]],
        "tokenizer.ggml.eos_token_id": tokenizer.token_to_id("<|im_end|>"),
        "tokenizer.ggml.bos_token_id": tokenizer.token_to_id("<s>"),
        "tokenizer.ggml.add_bos_token": tokenizer.post_processor is not None,
    }


def sentence_piece_metadata(tokenizer, scores, padded_to, space):
    file = json.loads(tokenizer.to_str())
    tokens, types = vocabulary(tokenizer, file, padded_to)
    for i, token in enumerate(tokens):
        if token == "<unk>":
            types[i] = 2
        elif len(token) == 6 and token.startswith("<0x"):
            types[i] = 6
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.scores": scores + [0.0] * (padded_to - len(scores)),
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.add_space_prefix": space != "never",
        **({"tiny-llm.tokenizer.space_prefix": space} if space.startswith("metaspace") else {}),
    }


def vocabulary(tokenizer, file, padded_to):
    special = {token["id"]: token["special"] for token in file["added_tokens"]}
    tokens, types = [], []
    for i in range(padded_to):
        token = tokenizer.id_to_token(i)
        tokens.append(f"[PAD{i}]" if token is None else token)
        types.append(5 if token is None else 1 if i not in special else 3 if special[i] else 4)
    return tokens, types


def cases(out):
    everything = texts()
    out.about = {"texts": everything}
    byte_level = [(gpt2, "gpt-2"), (llama3, "llama-bpe"), (llama3_without_whole_words, "smaug-bpe"), (qwen2, "qwen2"), (qwen2_without_nfc, "qwen2"), (smollm, "smollm"), (no_name, "default")]
    sentence_pieces = [(llama2, "always"), (llama2_other_scores, "always"), (llama2_no_space, "never"), (llama2_no_bytes, "always"), (llama2_metaspace_first, "metaspace-first"), (llama2_metaspace_always, "metaspace-always")]
    made = []
    for make, pre in byte_level:
        tokenizer = make()
        metadata = byte_level_metadata(tokenizer, pre, tokenizer.get_vocab_size() + 7)
        if make is qwen2_without_nfc:
            metadata["tiny-llm.tokenizer.nfc"] = False
        made.append((make.__name__, tokenizer, metadata))
    for make, space in sentence_pieces:
        tokenizer, scores = make()
        made.append((make.__name__, tokenizer, sentence_piece_metadata(tokenizer, scores, tokenizer.get_vocab_size() + 7, space)))
    for name, tokenizer, metadata in made:
        fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, clean_up_tokenization_spaces=False)
        encoded = [fast.encode(text, add_special_tokens=False) for text in everything]
        decoded = [fast.decode(ids) for ids in encoded]
        # Most texts survive decoding unchanged: the fixture does not repeat them.
        decoded = [None if decoded == text else decoded for decoded, text in zip(decoded, everything)]
        out.about[name] = {"file": json.loads(tokenizer.to_str()), "metadata": metadata, "ids": encoded, "decoded": decoded}
    assert any(unicodedata.normalize("NFC", text) != text for text in everything)
