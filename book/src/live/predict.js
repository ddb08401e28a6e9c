// "Predict" as a quiz that remembers: write your guess, look, and say whether you had it. What you
// write stays in this browser.
import { button, el } from "./live.js";

const KEY = `predict:${location.pathname.split("/").slice(-2).join("/")}:`;

function remembered(key) {
  try { return JSON.parse(localStorage.getItem(key)) ?? {}; } catch { return {}; }
}

function remember(key, state) {
  try { localStorage.setItem(key, JSON.stringify(state)); } catch { /* a private window: nothing is kept */ }
}

const questions = [...document.querySelectorAll("main p > strong:first-child")]
  .filter((strong) => strong.textContent.startsWith("Predict"))
  .map((strong) => strong.parentElement);

questions.forEach((question, n) => {
  let answer = question.nextElementSibling;
  while (answer && answer.tagName !== "DETAILS" && answer.tagName !== "H2") answer = answer.nextElementSibling;
  if (!answer || answer.tagName !== "DETAILS") return;
  const key = KEY + n;
  const state = remembered(key);
  const guess = el("textarea", { rows: 2, input() { state.guess = guess.value; remember(key, state); } });
  guess.value = state.guess ?? "";
  const verdict = el("p", { class: "buttons" });
  function draw() {
    verdict.replaceChildren(
      "Was your guess right? ",
      ...[["Yes", true], ["Not quite", false]].map(([name, right]) => {
        const choice = button(name, () => { state.right = right; remember(key, state); draw(); });
        choice.setAttribute("aria-pressed", String(state.right === right));
        return choice;
      }));
  }
  draw();
  answer.before(el("label", { class: "guess" }, el("span", {}, "Your guess (kept in this browser)"), guess));
  answer.append(verdict);
});
