"""The `openai` package as anybody uses it: only the address is ours."""

import asyncio

import openai
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
    # What was answered goes back as it came.
    messages = [*MESSAGES, answer.choices[0].message, {"role": "user", "content": "Go on."}]
    assert client.chat.completions.create(model=MODEL, messages=messages, max_tokens=3).choices[0].message.content


def test_a_stream_says_what_the_whole_answer_says(client):
    asked = {"model": MODEL, "messages": MESSAGES, "max_tokens": 12, "seed": 3, "n": 2}
    whole = client.chat.completions.create(**asked)
    texts, reasons, usage = ["", ""], [None, None], None
    with client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}) as stream:
        for chunk in stream:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                texts[choice.index] += choice.delta.content or ""
                reasons[choice.index] = choice.finish_reason or reasons[choice.index]
    assert texts == [choice.message.content for choice in whole.choices]
    assert reasons == [choice.finish_reason for choice in whole.choices]
    assert usage == whole.usage


def test_the_helper_for_streams(client):
    asked = {"model": MODEL, "messages": MESSAGES, "max_tokens": 200, "temperature": 0, "stop": ["."]}
    whole = client.chat.completions.create(**asked)
    with client.chat.completions.stream(**asked) as stream:
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


def test_what_is_not_supported_is_refused_by_name(client, address):
    for more in [{"response_format": {"type": "json_object"}}, {"logit_bias": {"5": 1}}, {"reasoning_effort": "low"}]:
        with pytest.raises(openai.BadRequestError) as refused:
            client.chat.completions.create(model=MODEL, messages=MESSAGES, **more)
        assert refused.value.param == next(iter(more))
        assert refused.value.code == "unsupported_parameter"
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    with pytest.raises(openai.BadRequestError, match="tools"):
        client.chat.completions.create(model=MODEL, messages=MESSAGES, tools=[tool])
    with pytest.raises(openai.BadRequestError, match="5000 tokens"):
        client.completions.create(model=MODEL, prompt=[5] * 5000)
    with pytest.raises(openai.AuthenticationError):
        openai.OpenAI(base_url=f"{address}/v1", api_key="sk-other", max_retries=0).models.list()
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-5")


def test_many_at_once(address):
    async def all_of_them():
        async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="sk-test", max_retries=0) as client:

            async def streamed(seed):
                asked = {"model": MODEL, "messages": MESSAGES, "max_tokens": 10, "seed": seed}
                stream = await client.chat.completions.create(**asked, stream=True)
                return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

            async def whole(seed):
                asked = {"model": MODEL, "messages": MESSAGES, "max_tokens": 10, "seed": seed}
                return (await client.chat.completions.create(**asked)).choices[0].message.content

            # One that leaves in the middle takes nobody along.
            left = await client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True, max_tokens=200)
            await anext(left)
            await left.close()
            alone = [await whole(seed) for seed in range(4)]
            crowd = await asyncio.gather(*(streamed(i % 4) for i in range(24)), *(whole(i % 4) for i in range(8)))
            assert crowd == [alone[i % 4] for i in range(32)]

    asyncio.run(all_of_them())
