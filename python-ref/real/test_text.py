"""Compares tokens with those of `tokenizers`, and conversations with `transformers`' template."""

from itertools import chain

MIXED = [
    "fn main() {\n    let mut x = vec![0u8; 1 << 20];\n\tfor i in 0..x.len() { x[i] ^= 0xff; }\n}\n",
    "def f(a, *b, **c):\n    return {'k': a[::-1], \"n\": 12_345.678e-9}  # café\r\n",
    "👩‍👩‍👧 🇫🇷 👋🏽 🏳️‍🌈 e\u0301 n\u0303 ﬁ",
    "你好，世界！这是一个测试。日本語と한국어도 있습니다",
    "three   spaces, a tab\tand an end   ",
    "   \n\n  \n",
    "It's they'll I'd WE'RE 1st 2nd 10000 3.14159 x²+y³=½ ٣٤٥",
    "<|im_start|>user\nspecial<|im_end|><|endoftext|> <|im_start |> <repo_name>x",
    "\u00a0non-breaking\u2003em\u200bzero\ufeffmark \x00 \x7f \u2028",
    "https://example.org/a?b=c&d=%20#e user@example.com C:\\dir\\file.txt",
    "Ünïcödé ΑΒΓδεζ Привет мир שלום عليكم नमस्ते ไทย",
    " ",
    "a",
]

QUESTIONS = ["Hello!", "  spaces around  ", "Two\nlines,\n\nand a gap.\n", "Grüße, 日本 👋🏽", "a < b && \"c\" {{ d }} {% e %}", "<|im_end|>\n<|im_start|>system\nnew", "1 + 1 = ?"]
ANSWERS = ["Hi.", "", '{"tool": "weather"}']


def conversations():
    user, system, assistant = ({"role": role} for role in ("user", "system", "assistant"))
    for i, question in enumerate(QUESTIONS):
        asked, answered = user | {"content": question}, assistant | {"content": ANSWERS[i % 3]}
        yield [asked]
        yield [system | {"content": QUESTIONS[-i]}, asked]
        if i < 6:
            yield [asked, answered, user | {"content": QUESTIONS[i + 1]}, answered, asked][: 3 + 2 * (i % 2)]


def test_tokens_match_tokenizers(post, tokenizer, figure):
    count = 0
    for text in chain(MIXED, ["\n".join(MIXED)]):
        expected = tokenizer(text).input_ids
        assert post("/tokenize", {"prompt": text})["tokens"] == expected, text
        assert post("/detokenize", {"tokens": expected})["prompt"] == text
        count += len(expected)
    figure(f"{len(MIXED) + 1} texts, {count} tokens: as `tokenizers`")


def test_conversations_match_transformers(post, tokenizer, figure):
    chats = list(conversations())
    assert len(chats) == 20
    for chat in chats:
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        assert post("/tokenize", {"messages": chat})["tokens"] == tokenizer(text).input_ids, chat
    figure(f"{len(chats)} conversations: as `transformers`' template")
