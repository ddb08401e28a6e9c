"""Trains a model with experts that writes letter by letter: `models/tiny-mixture`, a Qwen3-MoE of two layers with eight experts each.

    python python-ref/train/letters.py

`cargo llm experts` shows its experts. A letter is a token, so you see which letters each expert processes. It is trained on the
stories of `corpus.py` in lowercase, with transformers' own model and loss.
"""

import json
import random
from pathlib import Path

import torch
from corpus import tell
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import Qwen3MoeConfig, Qwen3MoeForCausalLM

FOLDER = Path(__file__).resolve().parents[2] / "models" / "tiny-mixture"
LETTERS = [*"abcdefghijklmnopqrstuvwxyz", "Ġ", "Ċ", ".", ",", "<|endoftext|>"]
BATCH, LENGTH, STEPS, RATE, SEED = 24, 96, 1500, 4e-3, 6


def texts(seed):
    """Yields an endless stream of letters, as ids."""
    bits, ids = random.Random(seed), {letter: i for i, letter in enumerate(LETTERS)} | {" ": 26, "\n": 27}
    while True:
        for letter in tell(bits).text.lower():
            if letter in ids:
                yield ids[letter]
        yield ids["<|endoftext|>"]


def tokenizer():
    made = Tokenizer(models.BPE(vocab={letter: i for i, letter in enumerate(LETTERS)}, merges=[]))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(["<|endoftext|>"])
    return made


def main():
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    config = Qwen3MoeConfig(
        vocab_size=len(LETTERS), hidden_size=64, intermediate_size=32, moe_intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=16, num_experts=8, num_experts_per_tok=2, norm_topk_prob=True, max_position_embeddings=512,
        tie_word_embeddings=False, output_router_logits=True, router_aux_loss_coef=0.01, eos_token_id=30, bos_token_id=None, initializer_range=0.06,
    )  # fmt: skip
    config._experts_implementation = "eager"
    model, stream = Qwen3MoeForCausalLM(config), texts(SEED)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.01)
    for step in range(STEPS):
        rate = RATE * min(1, (step + 1) / 50) * max(0.02, 1 - step / STEPS)
        for group in optimizer.param_groups:
            group["lr"] = rate
        batch = torch.tensor([next(stream) for _ in range(BATCH * LENGTH)]).view(BATCH, LENGTH)
        loss = model(batch, labels=batch).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 0 or step + 1 == STEPS:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
    model.config.output_router_logits = False
    model.bfloat16().save_pretrained(FOLDER)
    tokenizer().save(str(FOLDER / "tokenizer.json"))
    (FOLDER / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|endoftext|>"}, indent=2) + "\n")


if __name__ == "__main__":
    main()
