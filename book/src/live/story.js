// The embedded model, writing: the reference engine runs it in this page, and tells after every token
// where attention has looked.
import { button, el, number, place, slider } from "./live.js";
import { engine, fetched } from "./engine.js";

const OVER = -2;
// One picture every so many milliseconds; between two of them the model writes.
const FRAME = 30;

/** Loads the model, on a rung of the ladder by its number, or else on the best. */
export async function load(rung = -1) {
  const [run, file] = await Promise.all([engine(), fetched("tiny-story.gguf")]);
  run.put(file);
  run.call("load_model", rung);
  return { run, ...run.json() };
}

/** Writes at most `most` tokens; `told(token, text)` hears of each, and stops it by returning false. */
export async function write({ run }, { prompt, temperature, seed, most }, told) {
  run.put(prompt);
  run.call("begin", temperature, seed);
  const start = run.json();
  let spent = 0, tokens = 0, shown = performance.now();
  told(null, start);
  while (tokens < most) {
    const before = performance.now();
    const token = run.call("write_next");
    const text = token === OVER ? "" : run.text();
    spent += performance.now() - before;
    if (token === OVER) break;
    tokens += 1;
    if (told(token, text) === false) break;
    if (performance.now() - shown > FRAME) {
      await new Promise((go) => setTimeout(go));
      shown = performance.now();
    }
  }
  return { tokens, seconds: spent / 1000 };
}

/** Of the weights `[layers, heads, positions]`: one head's, or the mean over all. */
export function seen(weights, heads, chosen) {
  const positions = weights.length / heads;
  if (chosen >= 0) return weights.slice(chosen * positions, (chosen + 1) * positions);
  const mean = new Float32Array(positions);
  weights.forEach((weight, i) => { mean[i % positions] += weight / heads; });
  return mean;
}

place("story", "Try it: the model, writing in this page", (host) => {
  let model, running = false, stopped = false, seed = 0;
  let spans = [], looks = [], prompted = 0, temperature = 0.8;
  const prompt = el("input", { type: "text", value: "Once upon a time", size: 34 });
  const text = el("p", { class: "story" });
  const said = el("p", { class: "said", "aria-live": "polite" });
  const problem = el("p", { class: "problem", role: "alert" });
  const head = el("select", { change: shade }, el("option", { value: -1 }, "all heads together"));
  const back = slider({
    name: "Look back", min: 0, max: 0, step: 1, value: 0,
    shown: (i) => (spans[prompted + Number(i)]?.textContent ?? "–").trim() || "↵",
    changed: shade,
  });
  const at = back.querySelector("input");
  const start = button("Fetch the model and write", go);
  const stop = button("Stop", () => { stopped = true; });
  const look = el("div", { class: "look", hidden: true }, el("label", { class: "field" }, "Attention of ", head), back);
  stop.disabled = true;

  // What the token at the slider saw when it was chosen: a line below each word, thicker for more.
  function shade() {
    const weights = looks[Number(at.value)];
    if (!weights) return;
    const w = seen(weights, model.layers * model.heads, Number(head.value));
    const most = w.reduce((a, b) => Math.max(a, b), 0);
    spans.forEach((span, i) => {
      const share = i < w.length ? w[i] : 0;
      span.style.setProperty("--seen", share < 0.02 ? 0 : (share / most).toFixed(3));
      span.classList.toggle("chosen-token", i === prompted + Number(at.value));
      span.classList.toggle("later", i > prompted + Number(at.value));
      if (share >= 0.02) span.title = `${number(100 * share, 2)} % of the attention`;
      else span.removeAttribute("title");
    });
  }

  function told(token, added) {
    const adding = token === null ? added : [added];
    spans.push(...adding.map((piece) => el("span", token === null ? { class: "prompt" } : {}, piece)));
    text.append(...spans.slice(-adding.length));
    if (token === null) {
      prompted = spans.length;
      return true;
    }
    model.run.call("attention");
    looks.push(model.run.floats());
    at.max = looks.length - 1;
    at.value = at.max;
    shade();
    return !stopped;
  }

  async function go() {
    if (running) return;
    [running, stopped, problem.textContent] = [true, false, ""];
    start.disabled = true;
    seed += 1;
    // What counts is what stands there now, though the engine may still be on its way.
    const asked = { prompt: prompt.value, temperature, seed, most: 160 };
    try {
      if (!model) {
        said.textContent = "The engine (0.4 MB as it is sent) and the model (4.7 MB) are on their way.";
        model = await load();
        for (let i = 0; i < model.layers * model.heads; i += 1) {
          head.append(el("option", { value: i }, `layer ${Math.floor(i / model.heads)}, head ${i % model.heads}`));
        }
        start.textContent = "Write";
      }
      [spans, looks] = [[], []];
      text.replaceChildren();
      look.hidden = false;
      stop.disabled = false;
      said.textContent = "It writes.";
      const { tokens, seconds } = await write(model, asked, told);
      said.textContent = `${tokens} tokens, ${(tokens / seconds).toFixed(0)} tokens/s: ${model.rung} kernels, one thread.`;
      at.dispatchEvent(new Event("input"));
    } catch (error) {
      said.textContent = "";
      problem.textContent = error.message;
    }
    running = false;
    start.disabled = false;
    stop.disabled = true;
  }

  host.append(
    el("p", {}, "The reference engine and a model of 4.3 million parameters run in your browser; nothing you write leaves it. The model was taught little stories and knows nothing else."),
    el("label", { class: "field" }, "Begin with ", prompt),
    slider({ name: "Temperature", min: 0, max: 1.5, step: 0.1, value: 0.8, shown: (t) => (t === 0 ? "greedy" : t.toFixed(1)), changed: (t) => { temperature = t; } }),
    el("p", { class: "buttons" }, start, stop),
    text, said, problem, look);
});
