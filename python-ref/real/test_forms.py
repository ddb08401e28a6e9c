"""Tests structured answers. With a schema, every answer must fit it. Reports the number of right answers with and without a schema."""

import json
import re

import jsonschema

PEOPLE = [("Anna", 34, "Paris"), ("Tom", 7, "Oslo"), ("Maria", 52, "Lima"), ("Ken", 19, "Tokyo"), ("Olga", 81, "Kyiv"), ("Ben", 25, "Boston"), ("Lucy", 40, "Rome"), ("Omar", 63, "Cairo")]
COLOURS = ["red", "blue", "green", "yellow"]


def closed(**properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


TEXT, WHOLE = {"type": "string", "maxLength": 40}, {"type": "integer", "minimum": 0, "maximum": 150}


def cases():
    """Yields a text, a description of the keys, a schema, and the right value."""
    for i, (name, age, city) in enumerate(PEOPLE):
        colour, other = COLOURS[i % 4], PEOPLE[i - 1][0]
        about = f"{name} is {age} years old and lives in {city}. {name}'s car is {colour}. {other} is a friend of {name}."
        yield about, "name, age", closed(name=TEXT, age=WHOLE), {"name": name, "age": age}
        yield about, "name, city", closed(name=TEXT, city=TEXT), {"name": name, "city": city}
        yield about, "car (the colour of the car)", closed(car={"enum": COLOURS}), {"car": colour}
        yield about, "names (the two names)", closed(names={"type": "array", "items": TEXT, "minItems": 2, "maxItems": 2}), {"names": [name, other]}
        yield about, "age (a number), adult (true from 18 on)", closed(age=WHOLE, adult={"type": "boolean"}), {"age": age, "adult": age >= 18}


def read(text):
    """Returns the first object in a text, or `None`."""
    found = re.search(r"\{.*\}", text, re.DOTALL)
    try:
        return json.loads(found[0]) if found else None
    except ValueError:
        return None


def fits(value, schema):
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def test_answers_fit_their_schemas(engine, figure):
    asked = list(cases())
    assert len(asked) == 40
    requests = [
        {"messages": [{"role": "user", "content": f"{about}\nAnswer with a JSON object with the keys: {keys}. Write nothing else."}], "max_tokens": 60, "temperature": 0}
        for about, keys, _, _ in asked
    ]
    formed = [request | {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}} for request, (*_, schema, _) in zip(requests, asked)]
    # With a schema, the whole answer is the object. Without one, the first object in the answer counts.
    for name, values in (("without a schema", [read(text) for text in engine.batch(requests)]), ("with its schema", [json.loads(text) for text in engine.batch(formed)])):
        fitting = sum(fits(value, schema) for value, (*_, schema, _) in zip(values, asked))
        right = sum(value == wanted for value, (*_, wanted) in zip(values, asked))
        figure(f"JSON {name}: {fitting} of {len(asked)} fit, {right} have the right values")
    assert fitting == len(asked)
