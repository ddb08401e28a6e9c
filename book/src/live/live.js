// What the book's live pieces share: making elements, and finding the place that a piece stands in.
// No framework, no network; without JavaScript the figures beside them say the same.

/** An element with attributes and children; a function is a listener for the event of that name. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** The same for drawings. */
export function shape(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A slider with its name and its value; `shown` turns the number into what the reader sees. */
export function slider({ name, min, max, step, value, shown = String, changed }) {
  const output = el("output", {}, shown(value));
  const input = el("input", {
    type: "range", min, max, step, value,
    "aria-valuetext": shown(value),
    input() {
      const now = Number(input.value);
      output.textContent = shown(now);
      input.setAttribute("aria-valuetext", shown(now));
      changed(now);
    },
  });
  return el("label", { class: "slider" }, el("span", {}, name), input, output);
}

/** A button. */
export function button(name, pressed) {
  return el("button", { type: "button", click: pressed }, name);
}

/** Puts a piece into each of its places on this page. */
export function place(name, title, build) {
  for (const host of document.querySelectorAll(`[data-live="${name}"]`)) {
    const id = `live-${name}`;
    host.setAttribute("role", "group");
    host.setAttribute("aria-labelledby", id);
    host.append(el("p", { class: "title", id }, title));
    build(host);
  }
}

/** A number as the book writes it: three significant digits, and a real minus. */
export function number(x, digits = 3) {
  if (x === 0) return "0";
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "NaN" : x > 0 ? "∞" : "−∞";
  const size = Math.floor(Math.log10(Math.abs(x)));
  return x.toFixed(Math.max(0, Math.min(8, digits - 1 - size))).replace("-", "−");
}
