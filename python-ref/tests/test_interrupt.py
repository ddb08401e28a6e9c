"""A long call into Rust lets other Python threads run, and Ctrl-C ends it. Each test runs the reference in a separate process,
because work that continues after Ctrl-C would slow down later tests."""

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.thorough

AT_ONCE = 1.0
"""Maximum number of seconds from Ctrl-C to the end of a call, on a busy machine."""

HEAD = """
import _thread, json, signal, threading, time
# A shell that starts a program in the background lets it ignore Ctrl-C, and its children as well.
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
import tiny_llm
from tiny_llm.reference import week1, week2

def normal(shape):
    return np.random.default_rng(1).standard_normal(shape, dtype=np.float32)

def weights(config):
    e, d, i, v = (config[n] for n in ("hidden_size", "head_dim", "intermediate_size", "vocab_size"))
    q, k = config["num_attention_heads"] * d, config["num_key_value_heads"] * d
    shapes = {"model.embed_tokens.weight": (v, e), "model.norm.weight": (e,)}
    for layer in range(config["num_hidden_layers"]):
        part = {"self_attn.q_proj": (q, e), "self_attn.k_proj": (k, e), "self_attn.v_proj": (k, e), "self_attn.o_proj": (e, q)}
        part |= {"mlp.gate_proj": (i, e), "mlp.up_proj": (i, e), "mlp.down_proj": (e, i)}
        part |= {"input_layernorm": (e,), "post_attention_layernorm": (e,)}
        shapes |= {f"model.layers.{layer}.{name}.weight": shape for name, shape in part.items()}
    return {name: normal(shape) / np.float32(shape[-1] ** 0.5) for name, shape in shapes.items()}

def config(size, layers):
    return dict(
        model_type="llama", hidden_act="silu", hidden_size=size, intermediate_size=4 * size, num_hidden_layers=layers,
        num_attention_heads=8, num_key_value_heads=4, head_dim=size // 8, vocab_size=500, max_position_embeddings=8000,
        rms_norm_eps=1e-5, tie_word_embeddings=True, attention_bias=False, rope_theta=1e4, eos_token_id=1,
    )

def model(week, size=512, layers=4):
    c = config(size, layers)
    return week.model.Model.build(tiny_llm.kit.ModelConfig.from_json(json.dumps(c)), weights(c))

def greedy(logits, tokens):
    return int(np.argmax(logits))
"""

CALLS = {
    "week1 linear": "x, w = normal((16000, 4000)), normal((4000, 4000)); call = lambda: week1.attention.linear(x, w)",
    "week1 model": "m = model(week1); call = lambda: m.forward([[7] * 3000])",
    "week1 next token": "m = model(week1); call = lambda: week1.generate.next_token_logits(m, [7] * 3000)",
    "week1 sampling": "x = normal(60_000_000); call = lambda: week1.sampling.top_k(x, 7)",
    "week1 generate": (
        "m = model(week1, 64, 1); next = lambda t: week1.generate.next_token_logits(m, t);"
        "call = lambda: week1.generate.generate(next, [1], week1.generate.Limits(8000, 8000), greedy, lambda t: None)"
    ),
    "week2 feed in one chunk": "s = week2.generate.Session(model(week2), 8000); call = lambda: s.feed([7] * 6000, 6000)",
    "week2 prefill": "s = week2.generate.Session(model(week2), 8000); call = lambda: s.generate([7] * 6000, 64, 3, greedy)",
    "week2 decode": "s = week2.generate.Session(model(week2), 8000); call = lambda: s.generate([7], 64, 7000, greedy)",
    "week2 quantize": "x = normal(256 * 400_000); call = lambda: week2.blocks.quantize_row('Q4_K', x)",
    "week2 matmul": (
        "rows = [bytes(4096)] * 4000; x = normal((2000, 1024)); call = lambda: week2.kernels.matmul('naive', 'F32', rows, x)"
    ),
}


def run(program):
    """Runs a program in a separate process and returns the words that it prints."""
    program = HEAD + textwrap.dedent(program)
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.split()


def interrupted(name):
    """Interrupts the call `name`. Returns how it ended, and the seconds from Ctrl-C to its end."""
    return run(
        f"""
        {CALLS[name]}

        def interrupt():
            global sent
            time.sleep(0.5)
            sent = time.monotonic()
            _thread.interrupt_main()  # what Ctrl-C does

        threading.Thread(target=interrupt).start()
        try:
            call()
            print("finished", 0)
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - sent)
        """
    )


@pytest.mark.parametrize("name", CALLS)
def test_interrupt_ends_a_call(name):
    # One of three tries must be fast enough, because a busy machine may pause a program for a second.
    for _ in range(3):
        verdict, seconds = interrupted(name)
        assert verdict == "interrupted", "the call was over before Ctrl-C was heard"
        if float(seconds) < AT_ONCE:
            return
    raise AssertionError(f"Ctrl-C took {float(seconds):.1f} s")


@pytest.mark.parametrize("name", ["week1 model", "week2 feed in one chunk", "week2 prefill", "week2 decode"])
def test_interrupt_other_threads_run_during_a_call(name):
    [pause] = run(
        f"""
        {CALLS[name].replace("3000", "600").replace("6000", "600").replace("7000", "40")}
        beats, over = [time.monotonic()], threading.Event()

        def beat():
            while not over.wait(0.005):
                beats.append(time.monotonic())

        thread = threading.Thread(target=beat)
        thread.start()
        call()
        over.set()
        thread.join()
        print(max(after - before for before, after in zip(beats, beats[1:])) / (beats[-1] - beats[0]))
        """
    )
    assert float(pause) < 0.4, f"another thread stood still for {100 * float(pause):.0f} % of the call"


def test_interrupt_leaves_the_session_usable():
    """After Ctrl-C, the session waits until the call has ended. Its cache then has the documented contents."""
    found = run(
        """
        m = model(week2)
        s, tokens = week2.generate.Session(m, 8000), list(range(400)) * 2

        def interrupt():
            time.sleep(0.3)
            _thread.interrupt_main()

        threading.Thread(target=interrupt).start()
        try:
            s.generate(tokens, 8, 3, greedy)
            print("finished")
        except KeyboardInterrupt:
            print("interrupted")
        s.keep_prefix(tokens[:51])
        before = len(s.tokens())
        same = np.array_equal(s.feed(tokens[50:60], 8), week2.generate.Session(m, 100).feed(tokens[:60], 8))
        print(before, same)
        """
    )
    assert found == ["interrupted", "50", "True"], found


def test_interrupt_session_rejects_nested_calls():
    found = run(
        """
        s = week2.generate.Session(model(week2, 64, 1), 50)
        try:
            s.generate([1], 8, 3, lambda logits, tokens: s.computed())
        except RuntimeError as error:
            print("RuntimeError" if "borrowed" in str(error) else error)
        print(len(s.generate([1], 8, 3, greedy)))
        """
    )
    assert found == ["RuntimeError", "3"], found
