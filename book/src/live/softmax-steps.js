// The online softmax, one score at a time: what the running maximum does to all that was added up.
import { button, el, number, place } from "./live.js";

const FIRST = [1, 3, 5, 4];

/** The states after each score: maximum, factor, total, and the weights as they stand. */
export function steps(scores) {
  const states = [];
  let max = -Infinity;
  let total = 0;
  for (const [i, score] of scores.entries()) {
    const next = Math.max(max, score);
    const factor = max === -Infinity ? 0 : Math.exp(max - next);
    total = total * factor + Math.exp(score - next);
    max = next;
    const weights = scores.slice(0, i + 1).map((s) => Math.exp(s - max));
    states.push({ score, max, factor, total, weights });
  }
  return states;
}

place("softmax-steps", "Try it: feed an online softmax", (host) => {
  let scores = [...FIRST];
  let at = 0;
  const field = el("input", { type: "text", value: FIRST.join(" "), inputmode: "decimal", size: 24 });
  const problem = el("p", { class: "problem", role: "alert" });
  const body = el("tbody");
  const said = el("p", { class: "said", "aria-live": "polite" });

  function draw() {
    const states = steps(scores);
    body.replaceChildren(
      ...states.slice(0, at).map((state, i) => {
        const first = i === 0;
        return el("tr", i === at - 1 ? { class: "now" } : {},
          el("td", {}, number(state.score)),
          el("td", {}, number(state.max)),
          el("td", {}, first ? "–" : number(state.factor)),
          el("td", {}, number(state.total, 4)),
          el("td", {}, state.weights.map((w) => number(w / state.total, 2)).join("  ")));
      }),
    );
    const state = states[at - 1];
    if (!state) said.textContent = "Nothing has been seen yet: the maximum is −∞ and the total 0.";
    else if (at === 1) said.textContent = "The first score is the maximum so far, so it counts 1.";
    else if (state.factor < 1) {
      said.textContent = `${number(state.score)} is a new maximum. All that was added up before shrinks by ${number(state.factor)}; the output would too.`;
    } else {
      said.textContent = `The maximum stays, so nothing is corrected: ${number(state.score)} adds ${number(Math.exp(state.score - state.max))}.`;
    }
    next.disabled = at >= scores.length;
  }

  field.addEventListener("input", () => {
    const words = field.value.replaceAll("−", "-").split(/[\s,;]+/).filter(Boolean);
    const read = words.map(Number);
    const wrong = words[read.findIndex((x) => !Number.isFinite(x))];
    problem.textContent = wrong === undefined ? "" : `“${wrong}” is no number.`;
    if (wrong !== undefined || read.length > 16) {
      if (wrong === undefined) problem.textContent = "Sixteen scores at most, please.";
      return;
    }
    scores = read;
    at = 0;
    draw();
  });
  const next = button("Next score", () => { at += 1; draw(); });
  const again = button("Start again", () => { at = 0; draw(); });
  host.append(
    el("label", { class: "field" }, el("span", {}, "Scores"), field), problem,
    el("p", { class: "buttons" }, next, again),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Steps so far" },
      el("table", {},
        el("thead", {}, el("tr", {}, ...["score", "maximum", "factor", "total", "attention weights so far"].map((t) => el("th", { scope: "col" }, t)))),
        body)),
    said);
  draw();
});
