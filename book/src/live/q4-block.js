// One block of Q4_0: drag a weight, see the scale and what comes back.
import { button, el, number, place, shape } from "./live.js";

const FIRST = [
  0.31, -0.8, 0.07, 0.52, -0.22, 0.18, -0.41, 0.66, 0.02, -0.13, 0.27, -0.35, 0.44, -0.06, 0.11, -0.58,
  0.39, -0.29, 0.2, 0.05, -0.47, 0.61, -0.16, 0.33, -0.09, 0.48, -0.24, 0.15, -0.38, 0.55, -0.02, 0.25,
];

const bits = new DataView(new ArrayBuffer(8));

/** The nearest number of half precision, ties to even. */
export function half(x) {
  const f = Math.fround(x);
  if (f === 0 || !Number.isFinite(f)) return f;
  bits.setFloat32(0, f);
  const exponent = Math.max((bits.getUint32(0) >>> 23) & 255, 113) - 127;
  const step = 2 ** (exponent - 10);
  const scaled = f / step;
  let n = Math.floor(scaled);
  const rest = scaled - n;
  if (rest > 0.5 || (rest === 0.5 && n % 2 !== 0)) n += 1;
  return n * step;
}

/** As llama.cpp does it: the weight of largest magnitude lies on line 0, eight steps from zero. */
export function quantize(weights) {
  let extreme = 0;
  for (const w of weights) if (Math.abs(w) > Math.abs(extreme)) extreme = Math.fround(w);
  const d = Math.fround(extreme / -8);
  const inverse = d === 0 ? 0 : Math.fround(1 / d);
  const q = weights.map((w) => Math.min(15, Math.trunc(Math.fround(Math.fround(Math.fround(w) * inverse) + 8.5))));
  const scale = half(d);
  return { scale, q, back: q.map((n) => (n - 8) * scale) };
}

place("q4-block", "Try it: one block of Q4_0", (host) => {
  const weights = [...FIRST];
  let chosen = 1;
  const W = 640, H = 300, LEFT = 34, TOP = 14, LOW = H - 16;
  const drawing = shape("svg", { viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true" });
  const facts = el("dl", { class: "facts", "aria-live": "polite" });
  const pick = el("input", { type: "range", min: 0, max: 31, step: 1, value: chosen, input() { chosen = Number(pick.value); draw(); } });
  const set = el("input", { type: "range", min: -4, max: 4, step: 0.01, value: weights[chosen], input() { weights[chosen] = Number(set.value); draw(); } });
  const which = el("output"), value = el("output");

  function draw() {
    const { scale, q, back } = quantize(weights);
    const top = Math.max(1, ...weights.map(Math.abs)) * 1.06;
    const y = (w) => TOP + ((top - w) / (2 * top)) * (LOW - TOP);
    const x = (i) => LEFT + 12 + (i * (W - LEFT - 24)) / 31;
    const parts = [];
    for (let line = 0; line < 16; line += 1) {
      const at = y((line - 8) * scale);
      parts.push(shape("line", { x1: LEFT, x2: W, y1: at, y2: at, class: line === 8 ? "zero" : "grid" }));
      if (line % 5 === 0 || line === 8) parts.push(shape("text", { x: LEFT - 6, y: at + 4, class: "tick" }, String(line)));
    }
    weights.forEach((w, i) => {
      parts.push(shape("line", { x1: x(i), x2: x(i), y1: y(w), y2: y(back[i]), class: "error" }));
      parts.push(shape("circle", { cx: x(i), cy: y(w), r: i === chosen ? 6 : 4, class: i === chosen ? "chosen" : "dot" }));
    });
    drawing.replaceChildren(...parts);
    const errors = weights.map((w, i) => Math.abs(w - back[i]));
    const rms = Math.sqrt(errors.reduce((sum, e) => sum + e * e, 0) / errors.reduce((n) => n + 1, 0));
    const size = Math.sqrt(weights.reduce((sum, w) => sum + w * w, 0) / 32);
    which.textContent = `number ${chosen}`;
    value.textContent = number(weights[chosen]);
    pick.setAttribute("aria-valuetext", which.textContent);
    set.setAttribute("aria-valuetext", value.textContent);
    set.value = weights[chosen];
    const fact = (name, text) => [el("dt", {}, name), el("dd", {}, text)];
    facts.replaceChildren(
      ...fact("scale d", number(scale, 5)),
      ...fact("this weight", `${number(weights[chosen])} → ${q[chosen]} → ${number(back[chosen])}`),
      ...fact("largest error", number(Math.max(...errors))),
      ...fact("error of the block", size === 0 ? "0 %" : `${number((100 * rms) / size)} %`),
    );
  }
  host.append(
    drawing,
    el("label", { class: "slider" }, el("span", {}, "Weight"), pick, which),
    el("label", { class: "slider" }, el("span", {}, "Its value"), set, value),
    facts,
    el("p", { class: "buttons" },
      button("One outlier", () => { weights.splice(0, 32, ...FIRST); weights[chosen] = 4; draw(); }),
      button("Start again", () => { weights.splice(0, 32, ...FIRST); draw(); })),
  );
  draw();
});
