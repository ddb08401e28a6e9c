// What temperature, top-k, top-p and min-p leave of one real distribution of the embedded model.
import { el, place, slider } from "./live.js";
import { LOGITS, PROMPT, TOKENS } from "./sampling-logits.js";

/** Probabilities after temperature and cut-offs, in the order of the book: largest first, as the logits are given. */
export function distribution(logits, { temperature, topK, topP, minP }) {
  const shaped = temperature === 0 ? logits.map((_, i) => (i === 0 ? 0 : -Infinity)) : logits.map((l) => l / temperature);
  let kept = shaped.map((l, i) => (topK > 0 && i >= topK ? -Infinity : l));
  const softmax = (row) => {
    const e = row.map((l) => Math.exp(l - row[0]));
    const sum = e.reduce((a, b) => a + b, 0);
    return e.map((x) => x / sum);
  };
  if (topP < 1) {
    let before = 0;
    const p = softmax(kept);
    kept = kept.map((l, i) => {
      const out = before >= topP;
      before += p[i];
      return out && i > 0 ? -Infinity : l;
    });
  }
  if (minP > 0) {
    const p = softmax(kept);
    kept = kept.map((l, i) => (p[i] < minP * p[0] ? -Infinity : l));
  }
  return softmax(kept);
}

const SHOWN = 12;

place("sampling", "Try it: shape a distribution", (host) => {
  const settings = { temperature: 1, topK: 0, topP: 1, minP: 0 };
  const bars = TOKENS.slice(0, SHOWN).map((token) => {
    const bar = el("span", { class: "bar" }), share = el("span", { class: "share" });
    return { row: el("tr", {}, el("th", { scope: "row" }, token), el("td", { class: "track" }, bar), el("td", {}, share)), bar, share };
  });
  const rest = el("p", { class: "said", "aria-live": "polite" });
  const percent = (p) => (p === 0 ? "out" : p < 0.0005 ? "< 0.1 %" : `${(100 * p).toFixed(1)} %`);

  function draw() {
    const p = distribution(LOGITS, settings);
    bars.forEach(({ row, bar, share }, i) => {
      bar.style.inlineSize = `${100 * p[i]}%`;
      share.textContent = percent(p[i]);
      row.classList.toggle("out", p[i] === 0);
    });
    const others = p.slice(SHOWN).reduce((a, b) => a + b, 0);
    const left = p.filter((x) => x > 0).length;
    rest.textContent = `${left} of ${LOGITS.length} tokens can be drawn. Those not shown have ${percent(others)} together.`;
  }
  const change = (name) => (value) => { settings[name] = value; draw(); };
  host.append(
    el("p", {}, "After ", el("q", {}, PROMPT), " the embedded model would go on with"),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Probabilities" }, el("table", { class: "bars" }, el("tbody", {}, ...bars.map(({ row }) => row)))),
    rest,
    slider({ name: "Temperature", min: 0, max: 3, step: 0.05, value: 1, shown: (t) => t.toFixed(2), changed: change("temperature") }),
    slider({ name: "top-k", min: 0, max: 40, step: 1, value: 0, shown: (k) => (k === 0 ? "off" : String(k)), changed: change("topK") }),
    slider({ name: "top-p", min: 0.05, max: 1, step: 0.01, value: 1, shown: (p) => (p === 1 ? "off" : p.toFixed(2)), changed: change("topP") }),
    slider({ name: "min-p", min: 0, max: 0.5, step: 0.01, value: 0, shown: (m) => (m === 0 ? "off" : m.toFixed(2)), changed: change("minP") }));
  draw();
});
