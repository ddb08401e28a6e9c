"""Results of `transformers` for chat templates: `tests/fixtures/text.json`.

The templates are short and our own. They use the features of the templates of Llama, Qwen2 and Qwen3 checkpoints.
"""

import json

import jinja2
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from oracle.fixtures import FOLDER

CHATS = {
    "one question": [("user", "What is 2 + 2?")],
    "with a system message": [("system", "  Answer briefly.\n"), ("user", "Hi")],
    "second turn": [("user", "Hi"), ("assistant", "Hello! "), ("user", "\n Tell me more.  ")],
    "awkward content": [("user", "<b>\"é\" & '😀'</b>\ttab \\ {{ no }} {% template %}"), ("assistant", ""), ("user", "\n")],
    "thoughts": [("user", "Why?"), ("assistant", "<think>\nhm\n</think>\n\nBecause."), ("user", "Really?"), ("assistant", "<think>\nso\n</think>\n\nYes.")],
    "user twice": [("user", "One."), ("user", "Two.")],
    "system alone": [("system", "Only rules.")],
}

TEMPLATES = {
    "chatml": "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
    "smollm2: a default system message inside the loop": """\
{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nBe helpful.<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}""",
    "tinyllama: newlines around blocks": """\
{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\n' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
    {{ '<|assistant|>\n'  + message['content'] + eos_token }}
{% endif %}
    {% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
    {% endif %}
{% endfor %}
""",
    "llama 2: alternation is checked": """\
{% if messages[0]['role'] == 'system' %}{% set rest = messages[1:] %}{% set system = '<<SYS>>\n' + messages[0]['content'].strip() + '\n<</SYS>>\n\n' %}{% else %}{% set rest = messages %}{% set system = '' %}{% endif %}
{%- if rest | length == 0 %}{{ raise_exception('There is no question here.') }}{% endif -%}
{% for message in rest %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate: user, assistant, user, …') }}{% endif %}{% set content = system + message['content'] if loop.index0 == 0 else message['content'] %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% else %}{{ ' ' ~ content.strip() ~ ' ' ~ eos_token }}{% endif %}{% endfor %}""",
    "llama 3: bos on the first message": """\
{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}""",
    "llama 3.2: dates and tools": """\
{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%Y") | length ~ " digits" %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}

{#- A comment that leaves nothing behind. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\n\n" }}
{%- if builtin_tools is defined or tools is not none %}
    {{- "Environment: ipython\n" }}
{%- endif %}
{{- "Today Date: " + date_string + "\n\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {{- message.tool_calls[0].function | tojson }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
""",
    "qwen 2.5: tools or a default system message": """\
{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- for tool in tools %}
        {{- "\n" }}
        {{- tool | tojson }}
    {%- endfor %}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}
    {%- else %}
        {{- '<|im_start|>system\nYou are a careful assistant.<|im_end|>\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "tool" %}
        {%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}
""",
    "qwen 3: earlier thoughts are dropped": """\
{%- if messages[0].role == 'system' %}
    {{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning_content = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index and (loop.last or (not loop.last and reasoning_content)) %}
            {{- '<|im_start|>' + message.role + '\n<think>\n' + reasoning_content.strip('\n') + '\n</think>\n\n' + content.lstrip('\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\n' + content }}
        {%- endif %}
        {{- '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\n\n</think>\n\n' }}
    {%- endif %}
{%- endif %}""",
    "what Jinja inherits from Python": """\
{%- macro show(m, mark='-') -%}
{{ mark }} {{ m.role | upper }}: {{ m['content'] | trim | replace('\n', ' ') }}
{%- endmacro -%}
{{ none }} {{ true }} {{ add_generation_prompt }} {{ nothing_of_this_name }}|{{ messages[-1].role }}|{{ 7 // 2 }} {{ 7 / 2 }} {{ -7 % 3 }} {{ 2 ** 5 }}
{%- for m in messages if m.role != 'system' %}
    {%- if loop.index > 2 %}{% break %}{% endif %}
    {%- if m is not mapping or m.content is none %}{% continue %}{% endif %}
    {%- for key, value in m.items() %}
{{ loop.index }} {{ key.upper() }}={{ value | tojson }}
    {%- endfor %}
{{ show(m, mark='+') }} {{ m.get('name', 'nameless') }} {{ m.content.split()[:2] | join('/') }} {{ m.content.title()[:5] }}
{%- endfor %}
{{ messages[0] | tojson }}
{{ messages[:2] | map(attribute='role') | list | tojson(indent=2) }}
{{ messages | selectattr('role', 'equalto', 'user') | list | length }} {{ (messages | first).role ~ 1 ~ '!' }} {{ 'tools' if tools else 'no tools' }} {{ {'a': [1, 2.5, none, false], 'b': {}} | tojson }}
{{ 'user' in messages | map(attribute='role') }} {{ messages | length is divisibleby(2) }} {{ "a-b-c".split("-", 1) | last }} {{ 'x'.rstrip('x') | default('empty', true) }}
""",
}

SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}


def template_cases():
    fast = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), **SPECIAL)
    for name, template in TEMPLATES.items():
        fast.chat_template = template
        for chat, messages in CHATS.items():
            messages = [{"role": role, "content": content} for role, content in messages]
            for add_generation_prompt in (False, True):
                case = {"template": name, "chat": chat, "add_generation_prompt": add_generation_prompt}
                try:
                    case["text"] = fast.apply_chat_template(messages, tokenize=False, add_generation_prompt=add_generation_prompt)
                except jinja2.exceptions.TemplateError as error:
                    case["error"] = error.message
                yield case


class TextFixtures:
    """Like `fixtures.Fixtures`, for JSON instead of tensors."""

    def __init__(self, name):
        self.name = name
        self.about = {}

    def path(self):
        return FOLDER / f"{self.name}.json"

    def to_text(self):
        return json.dumps(self.about, ensure_ascii=False, separators=(",", ":")) + "\n"

    def write(self):
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.path().write_text(self.to_text(), encoding="utf-8")

    def differences(self):
        if not self.path().exists():
            return [f"{self.path()} is missing"]
        committed = json.loads(self.path().read_text(encoding="utf-8"))
        return [f"{self.name}: {part} differs" for part in sorted(self.about.keys() | committed.keys()) if self.about.get(part) != committed.get(part)]


FIXTURES = TextFixtures


def cases(out):
    out.about = {
        "special_tokens": SPECIAL,
        "chats": {name: [list(message) for message in chat] for name, chat in CHATS.items()},
        "templates": TEMPLATES,
        "renderings": list(template_cases()),
    }
