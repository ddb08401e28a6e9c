"""Inputs from the embedded model for `examples/show.rs`, which draws with the learner's functions: `tests/fixtures/show.safetensors`.

Run `python -m oracle show` after each training of the model.
"""

from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

MODEL = Path(__file__).resolve().parents[2] / "models" / "tiny-story"

# The text of the figure `attention-weights` of day 1.
TEXT = "Once upon a time, Gus was a clever pony. Gus had a new wagon. The wagon was blue and very pretty.\nQuestion: What colour was the wagon?\nAnswer: The wagon was"


STEP = 2.0**-8
"""Inputs are rounded to multiples of this, so that they rarely differ between machines, and then by one step."""


def coarse(x):
    return (x.double() / STEP).round().mul(STEP).float()


def cases(out):
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32, attn_implementation="eager").eval()
    ids = tokenizer(TEXT, return_tensors="pt").input_ids
    words = [tokenizer.decode([i]).replace("\n", "↵").strip() or "·" for i in ids[0].tolist()]
    asked, told = words.index("colour"), words.index("blue")
    rotated, before = {}, {}

    # Records the first layer's queries and keys after norm and rotation.
    import transformers.models.qwen3.modeling_qwen3 as qwen3

    rope = qwen3.apply_rotary_pos_emb

    def watched(q, k, *rest, **named):
        q, k = rope(q, k, *rest, **named)
        rotated.setdefault("first", (q[0], k[0]))
        return q, k

    model.model.layers[-1].post_attention_layernorm.register_forward_pre_hook(lambda _m, inputs: before.update(stream=inputs[0][0, -1]))
    qwen3.apply_rotary_pos_emb = watched
    try:
        with torch.no_grad():
            answer = model(ids, output_attentions=True)
    finally:
        qwen3.apply_rotary_pos_emb = rope
    heads = answer.attentions[0][0, :, asked, told]
    head = int(heads.argmax())
    assert heads[head] > 0.5, f"no head of the first layer looks from “colour” to “blue”: {heads}"
    q, k = rotated["first"]
    out.case(
        "day1/attention",
        seed=0,
        why="what one trained head looks at",
        inputs={"q": coarse(q[head]), "k": coarse(k[head // (q.shape[0] // k.shape[0])])},
        step=STEP,
        scalars={"words": words, "head": head, "asked": asked},
    )
    said = tokenizer.decode([int(answer.logits[0, -1].argmax())])
    assert said.strip() == "blue", said
    out.case(
        "day4/last_mlp",
        seed=0,
        why="the residual stream before the last MLP, right before the model names a colour",
        inputs={"stream": coarse(before["stream"])[None]},
        step=STEP,
        scalars={"text": TEXT, "tokens": ids[0].tolist(), "vocabulary": [tokenizer.decode([i]) for i in range(model.config.vocab_size)]},
    )
