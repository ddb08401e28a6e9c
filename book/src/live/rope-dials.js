// Two hands of RoPE: the query's and the key's turn with their positions, the angle between them with their distance.
import { el, number, place, shape, slider } from "./live.js";

const SPEEDS = [1, 0.3, 0.01];

/** What is left of the score of one pair: the cosine of the angle between query and key. */
export function score(speed, query, key) {
  return Math.cos(speed * (query - key));
}

place("rope-dials", "Try it: turn a query and a key", (host) => {
  const at = { query: 7, key: 5 };
  const dials = SPEEDS.map((speed) => {
    const drawing = shape("svg", { viewBox: "-60 -60 120 120", "aria-hidden": "true" });
    const said = el("p", { class: "said" });
    return { speed, drawing, said };
  });
  const total = el("p", { class: "said", "aria-live": "polite" });
  const hand = (angle, kind) => shape("line", { x1: 0, y1: 0, x2: 46 * Math.cos(angle), y2: -46 * Math.sin(angle), class: kind });

  function draw() {
    let sum = 0;
    for (const { speed, drawing, said } of dials) {
      const between = speed * (at.query - at.key);
      drawing.replaceChildren(
        shape("circle", { cx: 0, cy: 0, r: 52, class: "rim" }),
        hand(speed * at.key, "key"), hand(speed * at.query, "query"));
      said.textContent = `${speed} a position: ${number(between)} between them, score ${number(Math.cos(between))}`;
      sum += score(speed, at.query, at.key);
    }
    total.textContent = `Query at ${at.query}, key at ${at.key}, ${at.query - at.key} apart. Scores of the three pairs together: ${number(sum, 4)}.`;
  }
  const move = (name) => (value) => { at[name] = value; draw(); };
  const query = slider({ name: "Query's position", min: 0, max: 200, step: 1, value: at.query, changed: move("query") });
  const key = slider({ name: "Key's position", min: 0, max: 200, step: 1, value: at.key, changed: move("key") });
  let before = 0;
  const both = slider({
    name: "Move both by", min: 0, max: 100, step: 1, value: 0,
    changed(now) {
      for (const [name, label] of [["query", query], ["key", key]]) {
        at[name] = Math.max(0, at[name] + now - before);
        const input = label.querySelector("input");
        input.value = at[name];
        at[name] = Number(input.value);
        label.querySelector("output").textContent = at[name];
        input.setAttribute("aria-valuetext", at[name]);
      }
      before = now;
      draw();
    },
  });
  host.append(
    el("div", { class: "dials" }, ...dials.map(({ drawing, said }) => el("div", {}, drawing, said))),
    query, key, both, total);
  draw();
});
