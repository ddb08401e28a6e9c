"use strict";

const at = (id) => document.getElementById(id);
let key = "";

/** Headers of every request. The key stays in this page's memory. */
const headers = () => ({
  "content-type": "application/json",
  ...(key && { authorization: `Bearer ${key}` }),
});

/** Sends a request. If the server refuses it, throws the server's error message. */
async function ask(path, options = {}) {
  const answer = await fetch(path, { ...options, headers: headers() });
  if (answer.ok) return answer;
  if (answer.status === 401) at("key-form").hidden = false;
  const said = await answer.json().catch(() => null);
  throw new Error(said?.error?.message ?? `the server says ${answer.status}`);
}

/** Yields the data of each server-sent event. */
async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const parts = text.split("\n\n");
    text = parts.pop();
    for (const part of parts) yield part.replace(/^data: /, "");
  }
}

// The chat.

let messages = [];
let stopping = null;

function shown(role, text) {
  const paragraph = document.createElement("p");
  const name = document.createElement("b");
  const words = document.createElement("span");
  name.textContent = role === "user" ? "You" : "Model";
  words.textContent = text;
  paragraph.className = role;
  paragraph.append(name, words);
  at("log").append(paragraph);
  at("log").scrollTop = at("log").scrollHeight;
  return words;
}

const wishes = () => ({
  model: "served",
  temperature: Number(at("temperature").value),
  max_tokens: Number(at("tokens").value),
  user: "page",
});

async function send(text) {
  at("problem").textContent = "";
  messages.push({ role: "user", content: text });
  shown("user", text);
  const words = shown("assistant", "");
  // A screen reader reads the answer once, not letter by letter.
  at("log").setAttribute("aria-busy", "true");
  stopping = new AbortController();
  at("send").disabled = true;
  at("stop").disabled = false;
  let said = "";
  try {
    const body = JSON.stringify({ ...wishes(), messages, stream: true });
    const answer = await ask("v1/chat/completions", { method: "POST", body, signal: stopping.signal });
    for await (const data of events(answer)) {
      if (data === "[DONE]") break;
      const piece = JSON.parse(data);
      if (piece.error) throw new Error(piece.error.message);
      said += piece.choices[0]?.delta.content ?? "";
      words.textContent = said;
      at("log").scrollTop = at("log").scrollHeight;
    }
  } catch (error) {
    if (error.name !== "AbortError") at("problem").textContent = error.message;
  } finally {
    if (said) messages.push({ role: "assistant", content: said });
    else {
      messages.pop();
      words.parentElement.remove();
    }
    at("log").setAttribute("aria-busy", "false");
    at("send").disabled = false;
    at("stop").disabled = true;
    at("text").focus();
  }
}

at("chat").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = at("text").value.trim();
  if (!text || at("send").disabled) return;
  at("text").value = "";
  send(text);
});
at("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    at("chat").requestSubmit();
  }
});
at("stop").addEventListener("click", () => stopping?.abort());
at("clear").addEventListener("click", () => {
  stopping?.abort();
  messages = [];
  at("log").replaceChildren();
  at("problem").textContent = "";
});

at("crowd").addEventListener("submit", async (event) => {
  event.preventDefault();
  const content = at("text").value.trim() || "Tell me a story.";
  let left = Number(at("clients").value);
  const state = () => {
    at("crowd-state").textContent = left ? `${left} still wait for their end` : "all have their answers";
  };
  state();
  const one = async (i) => {
    const asked = { ...wishes(), user: `crowd ${i + 1}`, messages: [{ role: "user", content }], seed: i };
    try {
      await (await ask("v1/chat/completions", { method: "POST", body: JSON.stringify({ ...asked, stream: true }) })).text();
    } catch (error) {
      at("problem").textContent = error.message;
    }
    left -= 1;
    state();
  };
  await Promise.all(Array.from({ length: left }, (_, i) => one(i)));
});

// The view of the batch.

const colour = (slot) => {
  const lightness = getComputedStyle(document.documentElement).getPropertyValue("--lightness");
  return `hsl(${(210 + slot * 137.5) % 360} 60% ${lightness})`;
};

function drawRows(rows) {
  const cell = (content) => {
    const td = document.createElement("td");
    td.append(content);
    return td;
  };
  at("rows").replaceChildren(
    ...rows.map((row) => {
      const tr = document.createElement("tr");
      const number = document.createElement("th");
      number.scope = "row";
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      swatch.style.background = colour(row.slot);
      number.append(swatch, ` ${row.slot}`);
      const done = Math.min(row.computed, row.prompt);
      const bar = document.createElement("progress");
      bar.max = row.prompt;
      bar.value = done;
      bar.setAttribute("aria-label", `prompt of row ${row.slot}`);
      const prompt = document.createElement("span");
      prompt.append(bar, ` ${done} of ${row.prompt}`);
      const choice = row.choice ? `, answer ${row.choice + 1}` : "";
      const user = row.user ? ` (${row.user})` : "";
      tr.append(number, cell(`${row.request}${choice}${user}`), cell(prompt), cell(`${row.new}`));
      return tr;
    }),
  );
}

function drawPages(pages) {
  const canvas = at("pages");
  canvas.hidden = !pages;
  if (!pages) {
    at("pages-text").textContent = "There are none: each row has room for a whole context. With --pages there are.";
    return;
  }
  const style = getComputedStyle(document.documentElement);
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const size = pages.map.length > 2000 ? 6 : 14;
  const columns = Math.max(1, Math.floor(width / size));
  const height = Math.ceil(pages.map.length / columns) * size;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = `${height}px`;
  const draw = canvas.getContext("2d");
  draw.scale(scale, scale);
  let remembered = 0;
  let shared = 0;
  pages.map.forEach((code, i) => {
    const [x, y] = [(i % columns) * size, Math.floor(i / columns) * size];
    const side = size - 2;
    if (code === 0) draw.fillStyle = style.getPropertyValue("--free");
    else if (code === 1) draw.fillStyle = style.getPropertyValue("--remembered");
    else draw.fillStyle = colour(Math.abs(code) - 2);
    draw.fillRect(x, y, side, side);
    remembered += code === 1;
    if (code < 0) {
      shared += 1;
      draw.fillStyle = style.getPropertyValue("--text");
      draw.fillRect(x, y + side * 0.4, side, side * 0.2);
    }
  });
  at("pages-text").textContent =
    `${pages.used} of ${pages.pages} pages of ${pages.page_len} positions are taken: ` +
    `${pages.used - remembered - shared} by one row, ${shared} shared, ${remembered} remembered.`;
}

let before = [];

function draw(view) {
  if (view.seconds === undefined) return;
  before = before.filter((earlier) => view.seconds - earlier.seconds < 2);
  const first = before[0];
  before.push(view);
  if (first) {
    const rate = (view.new_tokens - first.new_tokens) / (view.seconds - first.seconds);
    const steps = view.steps - first.steps;
    at("rate").textContent = view.rows.length ? rate.toFixed(1) : "0";
    at("rows-a-step").textContent = steps ? ((view.computed_rows - first.computed_rows) / steps).toFixed(1) : "0";
  }
  at("waiting").textContent = view.waiting;
  at("preempted").textContent = view.pages ? view.pages.preempted : "–";
  const share = (pair) => (pair && pair[1] ? `${((100 * pair[0]) / pair[1]).toFixed(0)} %` : "–");
  at("found").textContent = share(view.pages?.found);
  at("drafts").textContent = share(view.drafts);
  drawRows(view.rows);
  drawPages(view.pages);
}

async function watch() {
  for (;;) {
    try {
      const models = await (await ask("v1/models")).json();
      at("model").textContent = `${models.data[0].id}: ${models.data[0].engine}`;
      const answer = await ask("live");
      at("key-form").hidden = true;
      at("live-state").textContent = "Connected.";
      for await (const data of events(answer)) draw(JSON.parse(data));
      at("live-state").textContent = "The server has ended; trying again.";
    } catch (error) {
      at("live-state").textContent = `Not connected: ${error.message}`;
    }
    await new Promise((go) => setTimeout(go, 2000));
  }
}

at("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  key = at("key").value;
});
watch();
