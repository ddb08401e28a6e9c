"""Week 3, day 7: structured output.

The judge is Python's own `json`, on whole texts. A text is a prefix of JSON if Python accepts it with some completion. It tries
completions that end the last value and close all open brackets, the shortest first. There is no automaton here.
"""

import functools
import itertools
import json
import re


NEVER = 2**16 - 1
MOST_DEPTH, MOST_DIGITS, MOST_EXPONENT_DIGITS = 64, 15, 2


def number(text):
    """Checks the text of a number. Raises `ValueError` if it has too many digits for some parsers."""
    whole, fraction, exponent = (len(digits or "") for digits in re.fullmatch(r"-?(\d+)(?:\.(\d+))?(?:[eE][+-]?(\d+))?", text).groups())
    if whole > MOST_DIGITS or fraction > MOST_DIGITS or exponent > MOST_EXPONENT_DIGITS:
        raise ValueError(text)
    return 0


def no_json(text):
    raise ValueError(text)


def depth(value):
    """Returns the depth of nested arrays and objects. An object is a pair of lists here."""
    if isinstance(value, tuple):
        value = value[1]
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


DECODER = json.JSONDecoder(
    parse_int=number,
    parse_float=number,
    parse_constant=no_json,
    object_pairs_hook=lambda pairs: ([key for key, _ in pairs], [value for _, value in pairs]),
)
"""Created once, because creating it takes longer than most calls."""


@functools.cache
def is_json(data):
    """Returns whether Python reads these bytes as JSON that can be written as UTF-8. Half a surrogate pair cannot."""
    try:
        value = DECODER.decode(data.decode("utf-8"))
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except ValueError:
        return False
    return depth(value) <= MOST_DEPTH


def is_object(data):
    return data.lstrip(b" \t\n\r").startswith(b"{") and is_json(data)


def values():
    """Returns all texts that may complete the last value of a prefix, sorted by length, then by bytes."""
    second = b"\\uDC00"
    in_character = [first + b"\x80" * n for first in (b"\x80", b"\x90", b"\xa0") for n in range(3)]
    in_escape = [b'"', b"u0000", *(b"0" * n for n in range(1, 5)), *(second[n:] for n in range(5)), b"0" + second, b"00" + second]
    strings = [part + b'"' for part in (b"", *in_character, *in_escape)]
    words = [word[n:] for word in (b"true", b"false", b"null") for n in range(1, len(word))]
    missing = [b"", b"0", b"{}", b":0", b'"":0', *words, *strings, *(string + b":0" for string in strings)]
    return sorted(set(missing), key=lambda value: (len(value), value))


VALUES = values()


def brackets(data):
    """Returns the brackets that close all open ones of `data`. Ignores brackets in strings."""
    closers, in_string, escaped = b"", False, False
    for byte in data:
        if in_string:
            in_string = escaped or byte != ord('"')
            escaped = not escaped and byte == ord("\\")
        elif byte == ord('"'):
            in_string = True
        elif byte in b"[{":
            closers = (b"]" if byte == ord("[") else b"}") + closers
        elif byte in b"]}":
            closers = closers[1:]
    return closers


@functools.cache
def closing(data, judge=is_json):
    """Returns the shortest text that completes `data` to JSON, or `None`. Of several, returns the one with the smallest bytes."""
    closers = brackets(data)
    return next((value + closers for value in VALUES if judge(data + value + closers)), None)


def alive(data, judge=is_json, prefix=b""):
    """Returns how many bytes of `data`, read after `prefix`, are a prefix of JSON."""
    for n in range(1, len(data) + 1):
        if closing(prefix + data[:n], judge) is None:
            return n - 1
    return len(data)


def fewest_pieces(vocabulary, text):
    """Returns the smallest number of pieces that form `text`, or `None`. Each round adds the positions that one more piece reaches."""
    reached, count = {0}, 0
    while len(text) not in reached:
        new = {at + len(piece) for at in reached for piece in vocabulary if piece and text.startswith(piece, at)} - reached
        if not new:
            return None
        reached, count = reached | new, count + 1
    return count


def price(vocabulary, data, judge):
    """Returns the smallest number of tokens that form the shortest completion of `data`, or `NEVER`."""
    end = closing(data, judge)
    pieces = None if end is None else fewest_pieces(vocabulary, end)
    return NEVER if pieces is None else pieces


STRINGS = [
    b'"', b'a"', b'ab c"', b'a"b', b'\x7f~!"', b"a\nb", b"\x1f", b"\x00", b"tab\there",
    b'\\"x"', b'\\\\"', b'\\/"', b'\\b\\f\\n\\r\\t"', b"\\a", b"\\'", b"\\U0041", b"\\\n", b"\\0", b"\\x41",
    b'\\u00e9"', b'\\u00E9Z"', b"\\u00g0", b"\\u12\"", b"\\u123\"", b"\\u 123", b'\\uFFFF"', b'\\uabcd"', b'\\uD7FF"', b'\\ue000"',
    b'\\ud83d\\ude00"', b'\\uD83D\\uDE00"', b'\\udbff\\udfff"', b'\\ud83d"', b"\\ud83dx", b"\\ud83d\\n", b"\\ud83d\\u0041", b"\\ud83d\\ud83d", b"\\ude00", b"\\udc00", b"\\udfff",
    b"\\ud83d\\uDb00", b'\\ud800\\uDc00"', b'\\ud83d\\ude00\\ud83d\\ude00"',
    "é€😀\"".encode(), "ÿĀ߿ࠀ퟿𐀀􏿿\"".encode(), b"\x80", b"\xbf", b"\xc0\x80", b"\xc1\xbf", b'\xc2\x80"', b'\xdf\xbf"', b"\xc3\"", b"\xc3\xc3", b"\xc3\x7f",
    b"\xe0\x9f\xbf", b'\xe0\xa0\x80"', b'\xed\x9f\xbf"', b"\xed\xa0\x80", b"\xee\x80\x80\"", b"\xef\xbf\xbd\"", b"\xe2\x82\"", b"\xe2\x28", b"\xe1\xbf\xbf\"", b"\xec\x80\x80\"",
    b"\xf0\x8f\xbf\xbf", b'\xf0\x90\x80\x80"', b"\xf1\x80\x80\x80\"", b"\xf3\xbf\xbf\xbf\"", b'\xf4\x8f\xbf\xbf"', b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xff", b"\xfe", b"\xf0\x9f\x98", b"\xf0\x9f\x98\"",
    b"\xe2\x82\xac\xe2", b"\xf0\x9f\x98\x80\x80",
]
NUMBERS = [
    "0", "-0", "7", "42", "-42", "00", "01", "-01", "-", "--1", "+1", "", ".5", "1.", "1.5", "1.05", "-0.0", "1..5", "1.5.5", "1e5", "1E5", "1e+5", "1E-05", "1e", "1e+", "1e+-5", "1.e5", "1.5e12", "0e0", "0x1F", "1e5.5",
    "1e5e5", "1-", "-.5", "-e5", "9" * 15, "9" * 16, "9" * 30, "-" + "1" * 15, "-" + "1" * 16, "0." + "9" * 15, "9" * 15 + ".5", "-" + "1" * 15 + "." + "2" * 15 + "e-10", "0." + "9" * 16, "1." + "0" * 15 + "e99", "1e99", "1e100", "1e007", "1e-100", "123456789.123456789e-12", "0.1e1", "10", "1a",
    "Infinity", "-Infinity", "NaN", "1_000", "0e", "0.", "-0.e1", "0E+9", "1e0", "1e00",
]
TEXTS = [
    b"{}", b"[]", b"[[]]", b"[{}]", b'{"a":1}', b'{"a":{"b":[1,2,{"c":null}]}}', b'[1,2,3]', b'[true,false,null]', b'["a","b"]', b'{"a":"b","c":"d"}', b'"text"', b"12", b"-0.5e-3", b"true", b"false", b"null",
    b' \t\n\r{ "a" : [ 1 , 2 ] , "b" : { } }\n ', b"[ ]", b"{ }", b"  1  ", b'{"":""}', b'{"a":1,"a":2}', b'{"\\u00e9\\n":"\\ud83d\\ude00"}', '{"é€":"😀"}'.encode(), b'["]","}"]', b'["\\"]","\\\\"]', b"[0]", b"[-1.5e+2,0]", b'{"a":0}', b'{"a":-0.0}',
    b"[1,]", b"[,1]", b"[1 2]", b'{"a":1,}', b'{"a":]', b'{"a":}', b'{,"a":1}', b'{"a"}', b'{"a":}', b'{"a" 1}', b"{1:2}", b"{a:1}", b"{'a':1}", b"[}", b"{]", b"[1}", b'{"a":1]', b"]", b"}", b"[]]", b"{}{}", b"1 2", b'"a""b"', b"truefalse", b"true,", b"True", b"txue", b"fulse", b"tru", b"tru e", b"nulll", b"nul", b"n", b"fals",
    b"[01]", b"[1.]", b"[1.,2]", b"[-]", b"[1e]", b'{"a":1e}', b"[+1]", b"[.5]", b"1.5.5", b'{"a":01}', b"[0 1]", b"[1\n]", b"[1\x0b]", b"\xa0[]", b"\xef\xbb\xbf{}", b"\xc2\xa0{}", b"// c\n1", b"/**/1", b"[1,//\n2]", b"NaN", b"[Infinity]", b"[-Infinity]", b"undefined", b"", b" ", b"\n\n",
    b'["a\nb"]', b'["\t"]', b'["', b'{"a', b'{"a":"', b'{"a":"\\', b'{"a":"\\u1', b'["\\ud83d', b'["\\ud83d\\', b'["\xf0\x9f', b'{"a":[{"b":[', b'{"a":1,', b'{"a":1 ,', b'[1 ,', b'{"a" :', b'{"a": ', b"[[[]", b"-", b"[1.5e", b"[tr", b'{"key": fal',
    b'{"a":"b}', b'{"a":"b\\"}', b'{"a":"b\\\\"}', b'{"a":"b"}}', b'{"a":"b"} x', b'{"a":"b"}\n', b'{"a":{}}', b'{"a":[]}', b'{"a":[],"b":{}}', b'[{},[],"",0]', b'[[1,2],[3,4]]', b'{"a":{"b":{}},"c":0}', b'[{"a":0},{"a":0}]', b'{"a":true}', b'{"a":truE}', b'{"a":nul}', b'[tru]',
]
VOCABULARY = [
    b"", b"{", b"}", b"[", b"]", b":", b",", b'"', b" ", b"\n", b"\\", b"0", b"1", b"9", b"-", b".", b"e", b"a", b"b", b"u", b"t", b"r", b"d", b"D", b"C", b"8", b"\x80", b"\x90", b"\xa0",
    b"{}", b"[]", b'{"', b'"}', b'":', b'","', b'":"', b'":{"', b'"},{"', b"}}", b"]}", b"}]", b"}}}", b'"]', b'"]}', b"0}", b"00", b"1.", b".5", b"e-1", b"-0", b"123", b"12,", b"true", b"tru", b"ue", b"false", b"null", b"nul", b"l}", b" true", b": ", b", ", b' "', b"  ", b"\n  ",
    "é".encode(), b"\xc3", b"\xa9", "€".encode(), b"\xe2\x82", b"\xac", "😀".encode(), b"\xf0\x9f", b"\x98\x80", b"a\xc3", b"\xa9b", b'\x80"', b"\\u", b"\\n", b'\\"', b"\\\\", b"u00", b"e9", b"d83d", b"D83", b"\\ude", b"\\ud83d\\ude00", b'a"', b'a":', b"abc", b"a}", b"a,b", b"\t", b"\x00", b"\xff", b'""', b'"a":', b'{"a":0}',
    b"", b"a", b"}}",
]
"""Bytes and longer tokens. Some span several elements, or split a character, an escape or a word. Three texts occur twice, one of them empty."""

PREFIXES = [
    b"", b"{", b"[", b'{"', b'{"a', b'{"a"', b'{"a":', b'{"a":1', b'{"a":0', b'{"a":-', b'{"a":1.', b'{"a":1e', b'{"a":tr', b'{"a":t', b'{"a":nul', b'{"a":"', b'{"a":"\\', b'{"a":"\\u', b'{"a":"\\u0', b'{"a":"\\ud', b'{"a":"\\ud83d', b'{"a":"\\ud83d\\', b'{"a":"\\ud83d\\u', b'{"a":"\xc3', b'{"a":"\xe2', b'{"a":"\xf0',
    b'{"a":{', b'{"a":[', b'{"a":[1', b'{"a":[1,', b'{"a":[{"b":"', b'[[{"', b"[[", b"[[1]", b'{"a":1}', b'{"a":1,', b'{"a":1 ', b"12", b"-0.5", b"[]", b'"', b'["a","b"',
]


def latin(data):
    """Returns bytes as a text, one character each."""
    return data.decode("latin-1")


def mutated(r, texts, count):
    """Yields `count` random ones of `texts`, each with a byte inserted, removed or replaced."""
    pick = lambda n: int(r.integers(1, high=n))  # noqa: E731
    alphabet = b'{}[]":,\\0-.eutan \n\x00\xc3\xa9'
    for _ in range(count):
        text = texts[pick(len(texts))]
        at, byte = pick(len(text)), bytes([alphabet[pick(len(alphabet))]])
        yield (text[:at] + byte + text[at:], text[:at] + text[at + 1 :], text[:at] + byte + text[at + 1 :])[pick(3)]


def text_cases(out):
    def string(data):
        closed = next((n for n in range(1, len(data) + 1) if is_json(b'"' + data[:n])), None)
        return [latin(data), alive(data[:closed], prefix=b'"'), closed is not None]

    out.case(
        "task_1_text/strings",
        why="each kind of escape, of character and of half a character, whole, cut off, and with one byte too much",
        scalars={"rows": [string(data) for data in STRINGS]},
    )
    # Python reads these three, which are not JSON. The value is the length of the longest prefix of a number.
    words = {"Infinity": 0, "-Infinity": 1, "NaN": 0}
    rows = [[text, words.get(text, alive(text.encode())), is_json(text.encode())] for text in NUMBERS]
    out.case("task_1_number/numbers", why="each part of a number, missing, alone, too long", scalars={"rows": rows})


def json_cases(out):
    r = out.random(3701)
    rows = [[latin(text), alive(text), is_json(text)] for text in TEXTS]
    out.case("task_2_json/values", why="texts that Python reads, and ones that it doesn't", scalars={"rows": rows})
    texts = sorted(set(mutated(r, [text for text in TEXTS if is_json(text) and len(text) > 4], 400)))
    rows = [[latin(text), alive(text), is_json(text)] for text in texts]
    assert 60 < sum(whole for _, _, whole in rows) < len(rows) - 60
    out.case("task_2_json/mutated", seed=r.seed, why="one byte too many, too few, or wrong", scalars={"rows": rows})
    texts = [b"{}", b" {}", b"[]", b"1", b'"a"', b"null", b'{"a":[1]}', b"{}{}", b"[{}]", b"\n\t{\n}\n", b"{", b"", b" "]
    rows = [[latin(text), alive(text, is_object), is_object(text)] for text in texts]
    out.case("task_2_json/objects", why="only an object will do, with space before it", scalars={"rows": rows})
    rows = []
    for opening, closing_, value in ((b"[", b"]", b"1"), (b'{"a":', b"}", b"1"), (b'[{"a":', b"}]", b"[]")):
        for n in (1, 2, 31, 32, 33, 63, 64, 65, 66):
            text = opening * n + value + closing_ * n
            whole = is_json(text)
            # Counts the bytes before the first bracket that is too deep.
            opened = itertools.accumulate((byte in b"[{") - (byte in b"]}") for byte in text)
            rows.append([latin(text), len(text) if whole else next(i for i, d in enumerate(opened) if d > MOST_DEPTH), whole])
    out.case("task_2_json/deep", why="as deep as may be, and one level deeper", scalars={"rows": rows})


def trie_cases(out):
    rows = [[latin(prefix), [token for token, text in enumerate(VOCABULARY) if text and closing(prefix + text) is not None]] for prefix in PREFIXES]
    out.case(
        "task_3_walk/tokens",
        why="tokens that span several elements, split a character, an escape or a word, have one text or none",
        scalars={"vocabulary": [latin(text) for text in VOCABULARY], "rows": rows},
    )


def whole_cases(out):
    whole = [b'{"a":{"b":[1,2,{"c":null}]}}', b'{"":""}', b'[true,false,-0.5e-3 ]', b'{"\\u00e9\\n":"\\ud83d\\ude00"}', '{"é€":"😀"}'.encode()]
    prefixes = sorted({text[:n] for text in whole for n in range(len(text) + 1)} | set(PREFIXES))
    rows = [[latin(prefix), latin(closing(prefix))] for prefix in prefixes]
    out.case("task_4_closing/texts", why="from every place of many texts", scalars={"rows": rows})
    rows = [[latin(text[:n]), latin(closing(text[:n], is_object))] for text in (b"", b" ", b'{"a') for n in {0, len(text)}]
    out.case("task_4_closing/objects", why="where only an object will do", scalars={"rows": rows})

    some = [b"a", b"aa", b"aaa", b"b", b"ab", b"ba", b"bab", b"", b"abba"]
    texts = [b"", b"a", b"aaaa", b"aaaaaaa", b"abab", b"babba", b"abbaba", b"aabbaabb", b"c", b"abc", b"abbabab", b"baaab"]
    greedy_fails = [b"a", b"ab", b"bcd", b"c", b"d", b"abc"]
    pairs = [([b"a", b"ab", b"bc"], b"abc")] + [(some, text) for text in texts] + [(greedy_fails, text) for text in (b"abcd", b"abc", b"abcabcd", b"b", b"bc")] + [([b"", b"}}"], text) for text in (b"", b"}", b"}}", b"}}}", b"}}}}")]
    rows = [[[latin(piece) for piece in vocabulary], latin(text), -1 if (n := fewest_pieces(vocabulary, text)) is None else n] for vocabulary, text in pairs]
    out.case("task_4_fewest/texts", why="where the longest token first is too many, where none fits, and no text at all", scalars={"rows": rows})

    for name, vocabulary in (("all", VOCABULARY), ("holes", [text for text in VOCABULARY if text not in (b"}", b"}}", b"}}}", b"\x80", b"0", b"00", b"\x90")])):
        rows = [[latin(prefix), [price(vocabulary, prefix + text, is_json) if text else NEVER for text in vocabulary]] for prefix in PREFIXES]
        out.case(
            f"task_4_prices/{name}",
            why="every token behind every kind of place" if name == "all" else "a vocabulary that cannot write what some places need",
            scalars={"vocabulary": [latin(text) for text in vocabulary], "rows": rows},
        )
