// Week 3's engine without a model: a reader sends requests and looks on, step by step, whose rows are
// computed, who has which pages, and who waits. The engine decides, as WebAssembly.
import { button, el, place, slider } from "./live.js";
import { engine } from "./engine.js";

// So many steps are shown.
const SHOWN = 8;

/** What a reader calls request `i`: A to Z, then A1 and so on. */
export const letter = (i) => String.fromCharCode(65 + (i % 26)) + (i < 26 ? "" : Math.floor(i / 26));

/** An engine with so much room. */
export async function open({ places, budget, pages }) {
  const run = await engine();
  run.call("crowd", places, budget, pages);
  const call = (name, ...numbers) => {
    run.call(name, ...numbers);
    return run.json();
  };
  return {
    now: run.json(),
    add: (prompt, answer) => call("crowd_add", prompt, answer),
    step: () => call("crowd_step"),
  };
}

const STATES = { waits: "waits", reads: "reads its prompt", writes: "writes", done: "is done" };

place("crowd", "Try it: feed the scheduler", (host) => {
  const room = { places: 3, budget: 32, pages: 8 };
  let crowd, past = [];
  let [prompt, answer] = [40, 12];
  const table = el("table", { class: "crowd" });
  const pages = el("ol", { class: "pages", "aria-label": "Pages, and whose they are" });
  const said = el("p", { class: "said", "aria-live": "polite" });
  const problem = el("p", { class: "problem", role: "alert" });

  function draw(now) {
    const steps = past.slice(-SHOWN);
    const cell = (request, step) => {
      const rows = step.requests[request]?.rows ?? 0;
      return el("td", { class: rows > 1 ? "reads" : rows ? "writes" : "" }, rows ? String(rows) : "");
    };
    table.replaceChildren(
      el("caption", {}, `Rows of each step, at most ${room.budget}`),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Request"), ...steps.map((step) => el("th", { scope: "col" }, String(step.step))),
        ...["now", "prompt", "answer"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ...now.requests.map((request, i) => el("tr", {},
        el("th", { scope: "row" }, letter(i)),
        ...steps.map((step) => cell(i, step)),
        el("td", {}, STATES[request.state]),
        el("td", {}, `${request.state === "done" ? request.prompt : Math.min(request.computed, request.prompt)}/${request.prompt}`),
        el("td", {}, `${request.written}/${request.answer}`)))),
      el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "All"), ...steps.map((step) => el("td", {}, String(step.rows))), el("td", { colspan: 3 }))));
    pages.replaceChildren(...now.pages.map((owner) => el("li", owner === null ? {} : { class: "taken" }, owner === null ? "free" : letter(owner))));
    const waiting = now.requests.flatMap((request, i) => (request.state === "waits" ? [letter(i)] : []));
    const back = now.preempted ? ` ${now.preempted} times a request had to give everything back.` : "";
    const free = now.pages.filter((owner) => owner === null).length;
    said.textContent = `Step ${now.step}: ${now.rows} rows, ${free} of ${room.pages} pages free. ${waiting.length ? `${waiting.join(", ")} ${waiting.length > 1 ? "wait" : "waits"}.` : "Nobody waits."}${back}`;
  }

  // One thing after the other, even while the engine is on its way.
  let turn = Promise.resolve();
  const act = (work) => () => {
    turn = turn.then(async () => {
      problem.textContent = "";
      try {
        crowd ??= await open(room);
        draw(work(crowd));
      } catch (error) {
        problem.textContent = error.message;
      }
    });
  };
  const step = () => {
    const before = past.at(-1)?.step ?? 0;
    const now = crowd.step();
    // A step without rows is none.
    if (now.step > before) past.push(now);
    return now;
  };
  const steps = (n) => {
    let now;
    for (let i = 0; i < n; i += 1) now = step();
    return now;
  };
  const anew = async () => {
    past = [];
    crowd = undefined;
  };
  const settle = (name) => (value) => {
    room[name] = value;
    turn = turn.then(anew);
    act(() => crowd.now)();
  };
  host.append(
    slider({ name: "Prompt tokens", min: 1, max: 200, step: 1, value: prompt, changed: (n) => { prompt = n; } }),
    slider({ name: "Answer tokens", min: 1, max: 60, step: 1, value: answer, changed: (n) => { answer = n; } }),
    el("p", { class: "buttons" },
      // What is sent is what the sliders say now, though the engine may still be on its way.
      button("Send the request", () => { const [p, a] = [prompt, answer]; act(() => crowd.add(p, a))(); }),
      button("Send a crowd", act(() => [[20, 12], [60, 20], [100, 8], [5, 30]].map(([p, a]) => crowd.add(p, a)).at(-1))),
      button("Step", act(() => steps(1))),
      button("Ten steps", act(() => steps(10))),
      button("Start again", () => { turn = turn.then(anew); act(() => crowd.now)(); })),
    said, problem,
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Requests" }, table),
    pages,
    el("details", {}, el("summary", {}, "What the engine has"),
      slider({ name: "Rows a step", min: 2, max: 128, step: 2, value: room.budget, changed: settle("budget") }),
      slider({ name: "Places", min: 1, max: 8, step: 1, value: room.places, changed: settle("places") }),
      slider({ name: "Pages of 32", min: 1, max: 24, step: 1, value: room.pages, changed: settle("pages") })));
});
