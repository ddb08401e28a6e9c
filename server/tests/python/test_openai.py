"""Tests the server with the unmodified `openai` package."""

import asyncio
import datetime
import json
from typing import Annotated, Literal

import openai
import pydantic
import pytest

MESSAGES = [{"role": "system", "content": "You tell stories."}, {"role": "user", "content": "Tell me one."}]
MODEL = "gpt-5-mini"


@pytest.fixture
def client(address):
    with openai.OpenAI(base_url=f"{address}/v1", api_key="sk-test", max_retries=0) as client:
        yield client


def test_a_chat(client):
    answer = client.chat.completions.create(model=MODEL, messages=MESSAGES, max_completion_tokens=8, temperature=0)
    assert answer.model == "tiny-story"
    assert answer.choices[0].message.role == "assistant"
    assert answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage.completion_tokens == 8
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + 8
    # Sends the answer back unchanged, as an earlier message.
    messages = [*MESSAGES, answer.choices[0].message, {"role": "user", "content": "Go on."}]
    assert client.chat.completions.create(model=MODEL, messages=messages, max_tokens=3).choices[0].message.content


def test_stream_adds_up_to_the_complete_answer(client):
    options = {"model": MODEL, "messages": MESSAGES, "max_tokens": 12, "seed": 3, "n": 2}
    whole = client.chat.completions.create(**options)
    texts, reasons, usage = ["", ""], [None, None], None
    with client.chat.completions.create(**options, stream=True, stream_options={"include_usage": True}) as stream:
        for chunk in stream:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                texts[choice.index] += choice.delta.content or ""
                reasons[choice.index] = choice.finish_reason or reasons[choice.index]
    assert texts == [choice.message.content for choice in whole.choices]
    assert reasons == [choice.finish_reason for choice in whole.choices]
    assert usage == whole.usage


def test_stream_helper_returns_the_same_text(client):
    options = {"model": MODEL, "messages": MESSAGES, "max_tokens": 200, "temperature": 0, "stop": ["."]}
    whole = client.chat.completions.create(**options)
    with client.chat.completions.stream(**options) as stream:
        text = "".join(event.delta for event in stream if event.type == "content.delta")
        final = stream.get_final_completion()
    assert text == final.choices[0].message.content == whole.choices[0].message.content


def test_completions_and_log_probabilities(client):
    answer = client.completions.create(model=MODEL, prompt=["Once upon", "There was"], max_tokens=5, logprobs=2, temperature=0)
    assert len(answer.choices) == 2
    for choice in answer.choices:
        assert "".join(choice.logprobs.tokens) == choice.text
        assert all(logprob <= 0 for logprob in choice.logprobs.token_logprobs)
    answer = client.chat.completions.create(model=MODEL, messages=MESSAGES, max_tokens=4, logprobs=True, top_logprobs=3)
    for token in answer.choices[0].logprobs.content:
        assert len(token.top_logprobs) == 3
        assert bytes(token.bytes).decode() == token.token


def test_stops_and_models(client):
    whole = client.completions.create(model=MODEL, prompt="Once upon a time", max_tokens=30, temperature=0).choices[0].text
    stop = whole[12:15]
    cut = client.completions.create(model=MODEL, prompt="Once upon a time", max_tokens=30, temperature=0, stop=[stop])
    assert cut.choices[0].text == whole[: whole.index(stop)]
    assert cut.choices[0].finish_reason == "stop"
    assert [model.id for model in client.models.list()] == ["tiny-story"]
    assert client.models.retrieve("tiny-story").object == "model"


def test_rejects_unsupported_fields_by_name(client, address):
    for more in [{"response_format": {"type": "grammar"}}, {"logit_bias": {"5": 1}}, {"reasoning_effort": "low"}]:
        with pytest.raises(openai.BadRequestError) as refused:
            client.chat.completions.create(model=MODEL, messages=MESSAGES, **more)
        assert refused.value.param == next(iter(more))
        assert refused.value.code == "unsupported_parameter"
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string", "format": "hostname"}}}}}
    with pytest.raises(openai.BadRequestError, match="/tools/0/function/parameters/properties/a/format") as refused:
        client.chat.completions.create(model=MODEL, messages=MESSAGES, tools=[tool])
    assert (refused.value.param, refused.value.code) == ("tools", "invalid_json_schema")
    with pytest.raises(openai.BadRequestError, match="5000 tokens"):
        client.completions.create(model=MODEL, prompt=[5] * 5000)
    with pytest.raises(openai.AuthenticationError):
        openai.OpenAI(base_url=f"{address}/v1", api_key="sk-other", max_retries=0).models.list()
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-5")


def test_a_json_object(client):
    options = {"model": MODEL, "messages": MESSAGES, "max_tokens": 40, "response_format": {"type": "json_object"}}
    for seed in range(4):
        answer = client.chat.completions.create(**options, seed=seed).choices[0]
        assert isinstance(json.loads(answer.message.content), dict)


class Home(pydantic.BaseModel):
    """Where someone lives."""

    place: Literal["cave", "tree", "burrow"]
    rooms: int = pydantic.Field(ge=1, le=12)


class Animal(pydantic.BaseModel):
    name: str = pydantic.Field(min_length=1, max_length=12)
    born: datetime.date
    homes: list[Home] = pydantic.Field(min_length=1, max_length=2)
    colour: Annotated[str, pydantic.Field(max_length=12)] | None
    parent: "Animal | None"


def test_structured_outputs(client):
    options = {"model": MODEL, "messages": MESSAGES, "response_format": Animal, "max_tokens": 400}
    for seed in range(6):
        answer = client.chat.completions.parse(**options, seed=seed).choices[0]
        assert answer.finish_reason == "stop"
        assert isinstance(answer.message.parsed, Animal)
        assert 1 <= len(answer.message.parsed.name) <= 12
        assert list(json.loads(answer.message.content)) == ["name", "born", "homes", "colour", "parent"]
    with client.chat.completions.stream(**options, seed=1) as stream:
        final = stream.get_final_completion()
    assert isinstance(final.choices[0].message.parsed, Animal)
    with pytest.raises(openai.BadRequestError, match="found a limit of 5"):
        client.chat.completions.parse(**options | {"max_tokens": 5})


class BuyFood(pydantic.BaseModel):
    count: int
    food: str


class GetWeather(pydantic.BaseModel):
    city: str


TOOLS = [openai.pydantic_function_tool(BuyFood, name="buy_food"), openai.pydantic_function_tool(GetWeather, name="get_weather")]
BUY = [{"role": "user", "content": 'Buy 3 of "onions".'}]


def test_tools(client):
    # The embedded model is trained to call tools, so it calls one even if the request does not force it.
    options = {"model": MODEL, "messages": BUY, "tools": TOOLS, "temperature": 0}
    for more in [{}, {"tool_choice": "required"}, {"tool_choice": {"type": "function", "function": {"name": "buy_food"}}}]:
        answer = client.chat.completions.parse(**options, **more).choices[0]
        assert answer.finish_reason == "tool_calls"
        (call,) = answer.message.tool_calls
        assert (call.function.name, call.function.parsed_arguments) == ("buy_food", BuyFood(count=3, food="onions"))
    with client.chat.completions.stream(**options) as stream:
        events = [event for event in stream if event.type.startswith("tool_calls")]
        final = stream.get_final_completion().choices[0]
    assert events[-1].type == "tool_calls.function.arguments.done"
    assert final.finish_reason == "tool_calls"
    assert final.message.tool_calls[0].function.parsed_arguments == BuyFood(count=3, food="onions")
    # Sends back the call and its result.
    messages = [*BUY, answer.message, {"role": "tool", "tool_call_id": call.id, "content": "done"}]
    assert client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS, max_tokens=20).choices[0].finish_reason


def test_several_tools_in_one_answer(client):
    # At a high temperature, the number of calls varies. Each call must be complete, and separate from the others.
    options = {"model": MODEL, "messages": BUY, "tools": TOOLS, "tool_choice": "required", "temperature": 2, "max_tokens": 200}
    for seed in range(4):
        answer = client.chat.completions.parse(**options, seed=seed).choices[0]
        calls = answer.message.tool_calls
        assert answer.finish_reason == "tool_calls"
        assert all(isinstance(call.function.parsed_arguments, BuyFood | GetWeather) for call in calls)
        assert len({call.id for call in calls}) == len(calls)
        with client.chat.completions.stream(**options, seed=seed) as stream:
            done = [event for event in stream if event.type == "tool_calls.function.arguments.done"]
            final = stream.get_final_completion().choices[0].message.tool_calls
        expected = [(call.function.name, call.function.arguments) for call in calls]
        assert [(call.function.name, call.function.arguments) for call in final] == expected
        assert [(event.name, event.arguments) for event in done] == expected
        assert [event.index for event in done] == list(range(len(calls)))
    for seed in range(4):
        answer = client.chat.completions.parse(**options, seed=seed, parallel_tool_calls=False).choices[0]
        assert len(answer.message.tool_calls) == 1


def test_tool_choice_overrides_the_model(client):
    named = {"type": "function", "function": {"name": "get_weather"}}
    for seed in range(6):
        options = {"model": MODEL, "messages": MESSAGES, "tools": TOOLS, "tool_choice": named, "seed": seed, "max_tokens": 40}
        (call,) = client.chat.completions.parse(**options).choices[0].message.tool_calls
        assert isinstance(call.function.parsed_arguments, GetWeather)
    answer = client.chat.completions.create(model=MODEL, messages=BUY, tools=TOOLS, tool_choice="none", temperature=0, max_tokens=20).choices[0]
    assert answer.message.tool_calls is None


def test_concurrent_requests_get_the_same_answers(address):
    async def all_of_them():
        async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="sk-test", max_retries=0) as client:

            async def streamed(seed):
                options = {"model": MODEL, "messages": MESSAGES, "max_tokens": 10, "seed": seed}
                stream = await client.chat.completions.create(**options, stream=True)
                return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

            async def whole(seed):
                options = {"model": MODEL, "messages": MESSAGES, "max_tokens": 10, "seed": seed}
                return (await client.chat.completions.create(**options)).choices[0].message.content

            # A client that disconnects in the middle does not affect the others.
            left = await client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True, max_tokens=200)
            await anext(left)
            await left.close()
            alone = [await whole(seed) for seed in range(4)]
            crowd = await asyncio.gather(*(streamed(i % 4) for i in range(24)), *(whole(i % 4) for i in range(8)))
            assert crowd == [alone[i % 4] for i in range(32)]

    asyncio.run(all_of_them())
