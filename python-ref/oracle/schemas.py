"""JSON Schemas with texts, and whether `jsonschema` and `llguidance` accept each text.

`jsonschema` parses a text with Python's parser and checks the value. `llguidance` checks the bytes, with our rules for blanks, and therefore also the order of properties.
Our answers have one form (see `schema/src/lib.rs`): a text is an answer if both accept it. `DIFFERENT` names the exceptions,
each with its reason.
"""

import json
import uuid

from oracle.fixtures import Random
from oracle.text import TextFixtures

FIXTURES = TextFixtures

# (name, schema, values, texts). Each value is tried with and without blanks, each text as it is.
S, I, N, B = {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}


def obj(properties, required=None, **more):
    """Returns the schema of an object with only these properties. All are required by default."""
    required = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False, **more}


def arr(items, **more):
    return {"type": "array", "items": items, **more}


TREE = {"$ref": "#/$defs/node", "$defs": {"node": obj({"value": I, "children": arr({"$ref": "#/$defs/node"})})}}
CHAIN = {"$defs": {"link": obj({"next": {"anyOf": [{"$ref": "#/$defs/link"}, {"type": "null"}]}})}, "$ref": "#/$defs/link"}
EXPRESSION = {
    "$ref": "#/$defs/e",
    "$defs": {"e": {"anyOf": [I, obj({"op": {"enum": ["+", "*"]}, "left": {"$ref": "#/$defs/e"}, "right": {"$ref": "#/$defs/e"}})]}},
}
SHAPES = {
    "oneOf": [
        obj({"kind": {"const": "circle"}, "radius": {"type": "number", "minimum": 0}}),
        obj({"kind": {"const": "square"}, "side": {"type": "number", "minimum": 0}}),
        obj({"kind": {"enum": ["line", "ray"]}, "length": N}),
    ]
}
TEXTS = ["", "a", "ab", "abc", "abcd", "é", "日本", "😀", "a b", "a\"b", "a\\b", "a\nb", "a/b", "\t", "12", "ABC", "a1", "_", "-"]
NUMBERS = [0, 1, -1, 2, 5, 7, 9, 10, 11, 12, 42, 99, 100, 101, 123, 999, 1000, -5, -10, -11, 0.5, -0.5, 1.5, 2.25, 9.99, 10.01, 99.5, 0.1, 1e-3]
DAYS = ["2024-02-29", "2023-02-29", "2000-02-29", "1900-02-29", "2024-04-30", "2024-04-31", "2024-12-31", "2024-13-01", "2024-00-10", "2024-01-00", "2024-1-01", "20240101", "0001-01-01", "9999-12-31", "2024-01-32", "x2024-01-01", "2024-02-30", ""]
TIMES = ["00:00:00Z", "23:59:59Z", "10:20:30.5Z", "10:20:30+01:00", "10:20:30.123456-23:59", "24:00:00Z", "10:60:00Z", "10:20:60Z", "10:20Z", "10:20:30", "10:20:30.Z", "10:20:30+24:00", ""]
UUIDS = [str(uuid.UUID(int=3**70)), str(uuid.UUID(int=5)), "0" * 32, "00000000-0000-0000-0000-00000000000g", "ABCDEF01-2345-6789-abcd-ef0123456789", "00000000-0000-0000-0000-0000000000000", "{00000000-0000-0000-0000-000000000000}", ""]

SCALARS = [None, True, False, 0, 1, -3, 2.5, "", "text", [], [1], {}, {"a": 1}]
SCHEMAS = [
    ("null", {"type": "null"}, SCALARS, ["nul", "nulll", "Null"]),
    ("boolean", B, SCALARS, ["tru", "True", "truefalse", "0"]),
    ("integer", I, SCALARS + NUMBERS, ["-", "01", "-01", "+1", "1.", "1e2", "0x1", "--1", "1 2", "-0", "123456789012345"]),
    ("number", N, SCALARS + NUMBERS, ["1.", ".5", "1e", "1e5", "1E+5", "1e-05", "-", "-.5", "00", "1.5e3", "Infinity", "NaN", "-0.0", "1..2"]),
    ("string", S, SCALARS + TEXTS, ['"', '"a', '"\\x"', '"\\"', '"a"b', '"\n"', "'a'", '"\\n\\t\\\\"', '""""']),
    ("array", {"type": "array"}, SCALARS + [[[]], [[], {}], [1, "a", None]], ["[", "[1,]", "[,]", "[1 2]", "]"]),
    ("object", {"type": "object"}, SCALARS + [{"a": {"b": [1]}}, {"": 0}], ["{", '{"a"}', '{"a":}', "{a:1}", '{"a":1,}', '{"a":1 "b":2}']),
    ("anything", {}, SCALARS + [{"a": [1, {"b": None}]}], ["", "[1", "tru", "{]", "[}"]),
    ("true", True, SCALARS, [""]),
    ("two types", {"type": ["string", "null"]}, SCALARS, ['"null', "nullx"]),
    ("three types", {"type": ["integer", "boolean", "array"]}, SCALARS, []),
    ("number and integer", {"type": ["integer", "number"]}, SCALARS, []),
    ("all types", {"type": ["null", "boolean", "object", "array", "number", "string"]}, SCALARS, []),
    ("annotated", {"title": "A", "description": "b", "default": 1, "examples": [2], "deprecated": True, "$comment": "c", "$schema": "https://json-schema.org/draft/2020-12/schema", **I}, SCALARS, []),
    ("a least", {"type": "integer", "minimum": 10}, NUMBERS, ["010"]),
    ("a most", {"type": "integer", "maximum": 10}, NUMBERS, []),
    ("a range", {"type": "integer", "minimum": -10, "maximum": 100}, NUMBERS, ["0100"]),
    ("a range of negative ones", {"type": "integer", "minimum": -100, "maximum": -5}, NUMBERS + [-100, -101, -99, -6, -4, -50], []),
    ("a small range", {"type": "integer", "minimum": 7, "maximum": 12}, NUMBERS + [6, 8, 13, 70, 120], []),
    ("one number", {"type": "integer", "minimum": 42, "maximum": 42}, NUMBERS + [4, 2, 420], []),
    ("a range across lengths", {"type": "integer", "minimum": 95, "maximum": 1005}, NUMBERS + [94, 95, 1004, 1005, 1006, 2000], []),
    ("without its ends", {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10}, NUMBERS, []),
    ("above nothing", {"type": "integer", "exclusiveMinimum": 0}, NUMBERS, ["00"]),
    ("not below nothing", {"type": "number", "minimum": 0}, NUMBERS, ["0.0", "00.5"]),
    ("a range with fractions", {"type": "number", "minimum": 0.5, "maximum": 9.99}, NUMBERS + [0.49, 0.51, 9.989, 9.991], ["0.50", "9.990", "0.500"]),
    ("a range of fractions", {"type": "number", "exclusiveMinimum": 0.1, "exclusiveMaximum": 0.5}, NUMBERS + [0.11, 0.49, 0.3, 0.101, 0.499], ["0.10", "0.100001", "0.50", "0.4999"]),
    ("a range about nothing", {"type": "number", "minimum": -1.5, "maximum": 1.5}, NUMBERS + [-1.5, -1.51, -1.49, 1.51], []),
    ("a probability", {"type": "number", "minimum": 0, "maximum": 1}, NUMBERS + [0.999, 1.001], ["1.0", "1.00", "0.0", "1.01", "1."]),
    ("multiples", {"type": "integer", "multipleOf": 5}, NUMBERS + [15, 25, 1234, 1235], []),
    ("multiples within", {"type": "integer", "multipleOf": 7, "minimum": 0, "maximum": 50}, NUMBERS + [14, 49, 56, 48], []),
    ("a least of any type", {"minimum": 5}, SCALARS + [4, 5, 6], []),
    ("at least two letters", {"type": "string", "minLength": 2}, TEXTS, ['"\\u00e9"', '"\\n"']),
    ("at most two letters", {"type": "string", "maxLength": 2}, TEXTS, ['"\\n\\n"', '"\\n\\n\\n"']),
    ("two or three letters", {"type": "string", "minLength": 2, "maxLength": 3}, TEXTS + ["ééé", "éééé", "😀😀", "😀😀😀😀"], []),
    ("no letter", {"type": "string", "maxLength": 0}, TEXTS, []),
    ("a long text", {"type": "string", "minLength": 20}, TEXTS + ["x" * 19, "x" * 20, "x" * 21, "é" * 20], []),
    ("letters", {"type": "string", "pattern": "^[a-z]+$"}, TEXTS, []),
    ("three digits", {"type": "string", "pattern": "^[0-9]{3}$"}, TEXTS + ["123", "1234", "012"], []),
    ("digits by name", {"type": "string", "pattern": r"^\d{2,4}$"}, TEXTS + ["1", "123", "1234", "12345"], []),
    ("anywhere", {"type": "string", "pattern": "b"}, TEXTS + ["b", "xbx", "xx"], []),
    ("at the start", {"type": "string", "pattern": "^ab"}, TEXTS, []),
    ("at the end", {"type": "string", "pattern": "b$"}, TEXTS + ["bb", "ba"], []),
    ("one of two", {"type": "string", "pattern": "^(yes|no)$"}, ["yes", "no", "yesno", "y", "n", "", "nope"], []),
    ("two branches", {"type": "string", "pattern": "^a|b$"}, ["a", "b", "ax", "xb", "ba", "c", ""], []),
    ("counts", {"type": "string", "pattern": "^a?b*c+$"}, ["c", "ac", "abc", "abbbcc", "b", "ab", "cc", "cb", ""], []),
    ("a group counted", {"type": "string", "pattern": "^(ab){2}$"}, ["ab", "abab", "ababab", "aab"], []),
    ("not some", {"type": "string", "pattern": "^[^a-c]+$"}, ["d", "a", "da", "é", "D", ""], []),
    ("a dot", {"type": "string", "pattern": "^a.c$"}, ["abc", "ac", "a\"c", "a\\c", "aéc", "a😀c", "abbc"], []),
    ("escaped signs", {"type": "string", "pattern": r"^\$\d+\.\d{2}$"}, ["$1.00", "$12.34", "$1.0", "1.00", "$.00", "$1x00"], []),
    ("a quotation mark", {"type": "string", "pattern": '^"a"$'}, ['"a"', "a", '"a', '""a""'], []),
    ("a backslash", {"type": "string", "pattern": r"^\\[a-z]$"}, ["\\n", "\\", "n", "\\\\n", "\\N"], []),
    ("letters beyond ASCII", {"type": "string", "pattern": "^[é-ü日]+$"}, ["é", "ü", "日", "é日", "e", "ÿ", "û"], []),
    ("words", {"type": "string", "pattern": r"^\w+(-\w+)*$"}, ["a", "a-b", "a--b", "-a", "a_b-c1", "a b", ""], []),
    ("an address", {"type": "string", "pattern": r"^[a-z0-9.]+@[a-z0-9]+\.[a-z]{2,3}$"}, ["a@b.de", "a.b@c.com", "a@b", "@b.de", "a@b.d", "a@b.info"], []),
    ("a pattern and a length", {"type": "string", "pattern": "^a+$", "minLength": 2, "maxLength": 4}, ["", "a", "aa", "aaa", "aaaa", "aaaaa", "ab"], []),
    ("a pattern of at most", {"type": "string", "pattern": "^(ab|c)*$", "maxLength": 3}, ["", "ab", "c", "abc", "cab", "ccc", "abab", "cccc", "a"], []),
    ("a day", {"type": "string", "format": "date"}, DAYS, []),
    ("an id", {"type": "string", "format": "uuid"}, UUIDS, []),
    ("a time", {"type": "string", "format": "time"}, TIMES, []),
    ("a moment", {"type": "string", "format": "date-time"}, [f"{day}T{time}" for day in DAYS[:4] for time in TIMES] + ["2024-02-29", "2024-02-29 10:00:00Z"], []),
    ("an address", {"type": "string", "format": "ipv4"}, ["0.0.0.0", "192.168.10.1", "255.255.255.255", "256.1.1.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.", ""], []),
    ("a mailbox", {"type": "string", "format": "email"}, ["a@b.de", "lily.may+cat@mail.example.org", "a_b-c@x-y.com", "a@b", "@b.de", "a@", "a b@c.de", "a@b..de", "a@-b.de", ".a@b.de", "a..b@c.de", ""], []),
    ("an enum", {"enum": ["red", "green", "blue"]}, ["red", "green", "blue", "re", "redd", "Red", "", None, 1], []),
    ("an enum of all sorts", {"enum": [None, True, 1, -2.5, "x", [1, "a"], {"k": [None]}]}, SCALARS + [-2.5, "x", [1, "a"], [1], {"k": [None]}, {"k": []}], []),
    ("an enum with a type", {"type": "string", "enum": ["a", 1, "b", None]}, ["a", "b", 1, None, "c"], []),
    ("numbers in an enum", {"type": "integer", "enum": [1, 12, 123]}, [1, 12, 123, 2, 23, 13, 1234], []),
    ("an enum of beginnings", {"enum": ["a", "ab", "abc"]}, ["a", "ab", "abc", "abcd", "b", ""], []),
    ("an enum to be escaped", {"enum": ['a"b', "c\\d", "e\nf", "é", "😀"]}, ['a"b', "c\\d", "e\nf", "é", "😀", "ab"], []),
    ("a const", {"const": "only"}, ["only", "onl", "onlyy", 1, None], []),
    ("a const object", {"const": {"a": [1, 2], "b": {}}}, [{"a": [1, 2], "b": {}}, {"a": [1, 2]}, {"a": [2, 1], "b": {}}, {}], []),
    ("integers", arr(I), [[], [1], [1, 2, 3], [1.5], ["a"], [[]], 1, [None]], ["[1,]", "[,1]", "[1, 2]", "[1,  2]"]),
    ("two to three", arr(I, minItems=2, maxItems=3), [[], [1], [1, 2], [1, 2, 3], [1, 2, 3, 4], [1, "a"]], []),
    ("exactly two", arr(S, minItems=2, maxItems=2), [[], ["a"], ["a", "b"], ["a", "b", "c"]], []),
    ("at least one", arr(B, minItems=1), [[], [True], [True, False], [1]], []),
    ("none", arr(I, maxItems=0), [[], [1]], []),
    ("an array of false", arr(False), [[], [1], [None]], []),
    ("arrays of arrays", arr(arr(N, minItems=2, maxItems=2)), [[], [[1, 2]], [[1, 2], [3, 4]], [[1]], [[1, 2, 3]], [1]], []),
    ("an array of any", {"type": "array", "minItems": 1}, [[], [1], [None, "a"], [{}]], []),
    ("a closed object", obj({"a": I, "b": S}), [{"a": 1, "b": "x"}, {"b": "x", "a": 1}, {"a": 1}, {"b": "x"}, {}, {"a": "1", "b": "x"}, {"a": 1, "b": "x", "c": 2}, []], ['{"a":1,"b":"x",}', '{"a":1"b":"x"}', '{"a" :1,"b":"x"}', '{ "a":1,"b":"x"}']),
    ("an optional end", obj({"a": I, "b": S}, ["a"]), [{"a": 1, "b": "x"}, {"a": 1}, {"b": "x"}, {}], []),
    ("an optional beginning", obj({"a": I, "b": S}, ["b"]), [{"a": 1, "b": "x"}, {"a": 1}, {"b": "x"}, {}], []),
    ("all optional", obj({"a": I, "b": S, "c": B}, []), [{}, {"a": 1}, {"b": "x"}, {"c": True}, {"a": 1, "c": True}, {"b": "x", "c": False}, {"c": True, "a": 1}, {"a": 1, "b": "x", "c": True}, {"d": 1}], ["{,}", '{"a":1,}']),
    ("names that begin alike", obj({"a": I, "ab": I, "abc": I}, ["ab"]), [{"ab": 1}, {"a": 1, "ab": 2}, {"ab": 1, "abc": 2}, {"a": 1}, {"abc": 1}, {"a": 1, "ab": 2, "abc": 3}], []),
    ("names to be escaped", obj({'q"': I, "é": I, "t\t": I}, []), [{'q"': 1}, {"é": 2}, {"t\t": 3}, {'q"': 1, "é": 2, "t\t": 3}, {"q": 1}], []),
    ("an open object", {"type": "object", "properties": {"a": I}, "required": ["a"]}, [{"a": 1}, {"a": 1, "b": "x"}, {"a": 1, "b": {"c": []}}, {"b": 1}, {"a": "x"}, {"a": 1, "aa": 2, "": 3}], []),
    ("open and optional", {"type": "object", "properties": {"a": I}}, [{}, {"a": 1}, {"b": 1}, {"a": "x"}, {"ab": "x"}, {"a": 1, "b": 2, "c": 3}, {"b": 1, "a": "x"}, {"b": 1, "a": 2}], ['{"a":1,"a":"x"}', '{"a":1,"b":2,"a":3}']),
    ("a map", {"type": "object", "additionalProperties": N}, [{}, {"a": 1}, {"a": 1, "b": 2.5}, {"a": "x"}, {"a": {}}], []),
    ("a map beside a name", {"type": "object", "properties": {"id": S}, "required": ["id"], "additionalProperties": I}, [{"id": "x"}, {"id": "x", "a": 1}, {"id": 1}, {"id": "x", "a": "y"}, {"a": 1}], []),
    ("required without a schema", {"type": "object", "required": ["a"], "additionalProperties": I}, [{"a": 1}, {"a": "x"}, {}, {"b": 1}, {"a": 1, "b": 2}], []),
    ("no properties", obj({}), [{}, {"a": 1}, [], None], ["{ }"]),
    ("a property that none fits", obj({"a": False, "b": I}, ["b"]), [{"b": 1}, {"a": 1, "b": 1}, {}], []),
    ("objects in objects", obj({"a": obj({"b": obj({"c": I})})}), [{"a": {"b": {"c": 1}}}, {"a": {"b": {}}}, {"a": {}}, {}, {"a": {"b": {"c": "x"}}}], []),
    ("a list of people", arr(obj({"name": S, "age": {"type": "integer", "minimum": 0}}), minItems=1), [[{"name": "A", "age": 3}], [{"name": "A", "age": 3}, {"name": "B", "age": 0}], [], [{"name": "A"}], [{"name": "A", "age": -1}]], []),
    ("properties of any type", {"properties": {"a": I}, "additionalProperties": False}, SCALARS + [{"a": "x"}, {"b": 1}], []),
    ("one of two types", {"anyOf": [S, I]}, SCALARS, []),
    ("one of two ranges", {"anyOf": [{"type": "integer", "maximum": 3}, {"type": "integer", "minimum": 8}]}, NUMBERS + [3, 4, 8], []),
    ("one of two objects", {"anyOf": [obj({"a": I}), obj({"a": S, "b": I})]}, [{"a": 1}, {"a": "x", "b": 1}, {"a": "x"}, {"a": 1, "b": 1}, {}], []),
    ("one of two lengths", {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "string", "minLength": 4}]}, TEXTS + ["abcde"], []),
    ("alike at first", {"anyOf": [arr(I), arr(S)]}, [[], [1], ["a"], [1, 2], ["a", "b"], [1, "a"], ["a", 1]], []),
    ("nothing or an object", {"anyOf": [{"type": "null"}, obj({"a": I})]}, [None, {"a": 1}, {}, 1], []),
    ("either of types", {"oneOf": [S, I, {"type": "null"}]}, SCALARS, []),
    ("shapes", SHAPES, [{"kind": "circle", "radius": 1}, {"kind": "square", "side": 2.5}, {"kind": "ray", "length": -1}, {"kind": "circle", "side": 1}, {"kind": "circle", "radius": -1}, {"kind": "cube"}, {}], []),
    ("all of one", {"allOf": [obj({"a": I})], "description": "what pydantic wrote"}, [{"a": 1}, {}, 1], []),
    ("a reference", {"$ref": "#/$defs/a", "$defs": {"a": I}}, SCALARS, []),
    ("references to one", obj({"from": {"$ref": "#/$defs/p"}, "to": {"$ref": "#/$defs/p", "description": "where"}}, **{"$defs": {"p": arr(N, minItems=2, maxItems=2)}}), [{"from": [0, 1], "to": [2, 3]}, {"from": [0], "to": [2, 3]}, {"from": [0, 1]}], []),
    ("definitions", {"$ref": "#/definitions/a~1b", "definitions": {"a/b": B}}, [True, False, None, 1], []),
    ("a tree", TREE, [{"value": 1, "children": []}, {"value": 1, "children": [{"value": 2, "children": []}]}, {"value": 1, "children": [{"value": 2}]}, {"value": 1}, {"value": 1, "children": [[]]}], []),
    ("a chain", CHAIN, [{"next": None}, {"next": {"next": {"next": None}}}, {"next": {}}, {}, None], []),
    ("the whole again", obj({"name": S, "inner": {"$ref": "#"}}, ["name"]), [{"name": "a"}, {"name": "a", "inner": {"name": "b"}}, {"inner": {"name": "b"}}, {"name": "a", "inner": {}}], []),
    ("an expression", EXPRESSION, [1, {"op": "+", "left": 1, "right": 2}, {"op": "*", "left": {"op": "+", "left": 1, "right": 2}, "right": 3}, {"op": "-", "left": 1, "right": 2}, {"op": "+", "left": 1}, "1"], []),
    ("a form", obj({"id": {"type": "string", "format": "uuid"}, "day": {"type": "string", "format": "date"}, "tags": arr({"enum": ["a", "b"]}, maxItems=2), "note": {"type": ["string", "null"], "maxLength": 5}}, ["id", "day"]), [{"id": UUIDS[0], "day": "2024-02-29"}, {"id": UUIDS[0], "day": "2023-02-29"}, {"id": UUIDS[0], "day": "2024-01-01", "tags": ["a", "b"]}, {"id": UUIDS[0], "day": "2024-01-01", "tags": ["a", "b", "a"]}, {"id": UUIDS[0], "day": "2024-01-01", "note": "short"}, {"id": UUIDS[0], "day": "2024-01-01", "note": "longer"}, {"id": UUIDS[0], "day": "2024-01-01", "note": None}], []),
    ("a call", obj({"name": {"const": "get_weather"}, "arguments": obj({"city": S})}), [{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "get_time", "arguments": {"city": "Oslo"}}, {"name": "get_weather", "arguments": {}}, {"arguments": {"city": "x"}, "name": "get_weather"}], []),
]

REFUSED = [
    ({"not": I}, "/not"), ({"if": I, "then": S}, "/if"), ({"allOf": [I, S]}, "/allOf"), ({"type": "string", "format": "hostname"}, "/format"), ({"type": "date"}, "/type"),
    (obj({"a": {"patternProperties": {}}}), "/properties/a/patternProperties"), ({"type": "array", "prefixItems": [I]}, "/prefixItems"), (arr(I, uniqueItems=True), "/uniqueItems"),
    ({"type": "array", "contains": I}, "/contains"), ({"type": "object", "minProperties": 1}, "/minProperties"), ({"type": "object", "propertyNames": S}, "/propertyNames"),
    ({"type": "object", "dependentRequired": {}}, "/dependentRequired"), ({"unevaluatedProperties": False}, "/unevaluatedProperties"), ({"nullable": True}, "/nullable"),
    ({"type": "number", "multipleOf": 0.5}, "/multipleOf"), ({"type": "integer", "multipleOf": 1001}, "/multipleOf"), ({"type": "string", "pattern": "(?=a)b"}, "/pattern"),
    ({"type": "string", "pattern": r"(a)\1"}, "/pattern"), ({"type": "string", "pattern": r"\bword"}, "/pattern"), ({"type": "string", "pattern": "a^b"}, "/pattern"), ({"type": "string", "pattern": "("}, "/pattern"),
    ({"type": "string", "pattern": r"\p{L}"}, "/pattern"), ({"oneOf": [{"minimum": 1}, {"maximum": 5}]}, ""), ({"oneOf": [I, N]}, ""), ({"$ref": "https://example.org/schema"}, "/$ref"), ({"$ref": "#/$defs/none"}, "/$ref"),
    ({"$ref": "#"}, ""), ({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, I]}}}, "/$defs/a"), ({"$ref": "#/$defs/a", "type": "string", "$defs": {"a": S}}, "/type"), ({"anyOf": [S, I], "minLength": 3}, "/minLength"),
    ({"enum": []}, "/enum"), ({"anyOf": []}, "/anyOf"), ({"type": "integer", "minimum": "1"}, "/minimum"), ({"type": "string", "minLength": -1}, "/minLength"), ({"type": "object", "required": "a"}, "/required"),
    ({"type": "object", "properties": []}, "/properties"), ({"type": "object", "properties": {"a": 1}}, "/properties/a"), (False, ""), ({"type": "integer", "minimum": 5, "maximum": 4}, ""), (obj({"a": False}), ""),
    ({"$ref": "#/$defs/a", "$defs": {"a": obj({"a": {"$ref": "#/$defs/a"}})}}, ""), ({"type": "string", "minLength": 20_000}, ""), ({"type": "array", "items": I, "minItems": 100_000}, ""), ({"const": 1, "enum": [1]}, "/enum"), ({"type": "string", "pattern": "a.{20}$"}, "/pattern"), ({"type": "string", "pattern": "^(a{1000}){1000}$"}, "/pattern"),
    ({"type": []}, "/type"), ({"type": "object", "properties": {"a": {"$id": "x", "type": "string"}}}, "/properties/a/$id"), ({"$anchor": "a"}, "/$anchor"), ({"type": "string", "contentEncoding": "base64"}, "/contentEncoding"),
]
"""Schemas that are rejected, each with a JSON pointer to the reason."""

MINUS_NOTHING = "minus nothing is nothing, which is within the bounds; llguidance has no sign before it where there is a bound"
TENTHS = "9.9 is 9.90, and so below 9.99; llguidance takes 9.89 and not 9.9"
DIFFERENT = {
    ("a most", "-0"): MINUS_NOTHING,
    ("a range about nothing", "-0"): MINUS_NOTHING,
    ("multiples within", "-0"): MINUS_NOTHING,
    ("a range with fractions", "9.9"): TENTHS,
    ("a range with fractions", "9.990"): TENTHS,
}
"""Texts that are answers although llguidance rejects them, and why. jsonschema accepts all of them."""


def blanks(value):
    """Returns two JSON texts of `value`: without blanks, and with all blanks that are allowed."""
    return [json.dumps(value, ensure_ascii=False, separators=(",", ":")), json.dumps(value, ensure_ascii=False)]


def mutated(r, text):
    """Returns the text with a character inserted, removed or replaced."""
    pick = lambda n: int(r.integers(1, high=n))  # noqa: E731
    if not text:
        return text
    at, letter = pick(len(text)), '{}[]":,0159-.eanu'[pick(17)]
    return (text[:at] + letter + text[at:], text[:at] + text[at + 1 :], text[:at] + letter + text[at + 1 :])[pick(3)]


class Bytes:
    """A tokenizer for llguidance, with one token per byte."""

    eos_token_id, bos_token_id, special_token_ids = 256, None, [256]
    tokens = [bytes([byte]) for byte in range(256)] + [b"<eos>"]

    def __call__(self, text):
        return list(text if isinstance(text, bytes) else text.encode())


def follower(schema, tokenizer):
    import llguidance

    options = {"item_separator": ",\x20?", "key_separator": ":\x20?", "whitespace_flexible": False, "coerce_one_of": True, "lenient": False}
    grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps({} if schema is True else schema), overrides=options)

    def takes(text):
        matcher = llguidance.LLMatcher(tokenizer, grammar)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher.try_consume_tokens(list(text.encode())) == len(text.encode()) and matcher.is_accepting()

    return takes


def judge(schema):
    import jsonschema

    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)

    def takes(text):
        try:
            value = json.loads(text, parse_constant=lambda name: {}[name], object_pairs_hook=once)
        except (ValueError, KeyError):
            return False
        return validator.is_valid(value)

    return takes


def once(pairs):
    """Returns an object's `pairs` as a dictionary. Raises `ValueError` for a repeated key, which parsers treat differently."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError(pairs)
    return dict(pairs)


def cases(out):
    import llguidance

    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Bytes()))
    r = Random(seed=3714)
    out.about = {"schemas": [], "refused": [{"schema": json.dumps(schema), "pointer": pointer} for schema, pointer in REFUSED]}
    for name, schema, values, texts in SCHEMAS:
        fits, follows = judge(schema), follower(schema, tokenizer)
        texts = [*(text for value in values for text in blanks(value)), *texts]
        texts += [mutated(r, text) for text in texts for _ in range(2)]
        rows = [[text, fits(text), follows(text)] + [True] * ((name, text) in DIFFERENT) for text in dict.fromkeys(texts)]
        out.about["schemas"].append({"name": name, "schema": json.dumps(schema, ensure_ascii=False), "texts": rows})
