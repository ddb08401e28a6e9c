"""Writes a model in the layout of Hugging Face, in bf16, and checks that transformers computes the same logits."""

import torch
from transformers import AutoModelForCausalLM, GenerationConfig, LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM
from transformers.utils import logging

from tokenizer import save_tokenizer

logging.disable_progress_bar()


def export(model, tokenizer, folder):
    """Rounds the weights to bf16, writes the model, and checks the rounded model."""
    folder.mkdir(parents=True, exist_ok=True)
    c = model.config
    end_of_text, im_end = (tokenizer.token_to_id(token) for token in ("<|endoftext|>", "<|im_end|>"))
    tied = c.family == "qwen3"
    config_class, model_class = (Qwen3Config, Qwen3ForCausalLM) if tied else (LlamaConfig, LlamaForCausalLM)
    config = config_class(
        vocab_size=c.vocab_size,
        hidden_size=c.hidden_size,
        intermediate_size=c.intermediate_size,
        num_hidden_layers=c.num_hidden_layers,
        num_attention_heads=c.num_attention_heads,
        num_key_value_heads=c.num_key_value_heads,
        head_dim=c.head_dim,
        max_position_embeddings=c.max_position_embeddings,
        rms_norm_eps=c.rms_norm_eps,
        rope_parameters={"rope_type": "default", "rope_theta": c.rope_theta},
        tie_word_embeddings=tied,
        bos_token_id=None,
        eos_token_id=im_end,
        pad_token_id=end_of_text,
    )
    shipped = model_class(config)
    weights = {name: weight.bfloat16() for name, weight in model.state_dict().items()}
    missing, unexpected = shipped.load_state_dict(weights, strict=False)
    assert missing == (["lm_head.weight"] if tied else []) and not unexpected, (missing, unexpected)
    if tied:
        shipped.tie_weights()
    shipped.generation_config = GenerationConfig(
        do_sample=False, eos_token_id=[im_end, end_of_text], pad_token_id=end_of_text
    )
    shipped.bfloat16().save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)
    save_tokenizer(tokenizer, folder)
    check(model, folder)


@torch.no_grad()
def check(model, folder):
    """Checks that transformers' model from the folder agrees with ours on the rounded weights, in f32."""
    ids = torch.arange(0, model.config.vocab_size, 7)[:128].unsqueeze(0)
    rounded = type(model)(model.config)
    rounded.load_state_dict({name: weight.bfloat16().float() for name, weight in model.state_dict().items()})
    theirs = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)(ids).logits
    torch.testing.assert_close(rounded(ids), theirs, atol=1e-3, rtol=1e-3)
