// Charts over time: labels in the viewer's zone, a tooltip for each step, zoom by dragging. They are whole without it.

import { translate } from "./texts.js";
import { format, local, moment as instant, zone } from "./times.js";

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

const clock = format({ hour: "2-digit", minute: "2-digit" });
const exact = format({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = format({ day: "numeric", month: "short" });
const moment = format({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

// Times

function localise(root = document) {
  for (const text of all("text[data-at]", root)) {
    const at = new Date(text.dataset.at);
    const plain = text.textContent.includes(":");
    text.textContent = plain ? clock.format(at) : day.format(at);
  }
  for (const select of all("select[data-submit]", root)) {
    for (const button of all("button", select.form)) button.hidden = true;
  }
  for (const note of all("[data-zone]", root)) note.textContent = translate("Times in %(zone)s", { zone });
  for (const name of all("[data-zone-short]", root)) name.textContent = zone;
  for (const form of all("[data-zoned]", root)) {
    for (const field of all("input[type=datetime-local]", form)) field.value = local(new Date(`${field.value}Z`));
  }
  for (const marked of all("[data-plot] title", root)) {
    marked.parentElement.dataset.text = marked.textContent.split("\n").slice(1).join("\n");
    marked.remove();
  }
  for (const link of all("[data-days] a[title]", root)) {
    link.dataset.text = link.title;
    link.removeAttribute("title");
  }
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-zoned]")) return;
  event.preventDefault();
  const query = new URLSearchParams(new FormData(event.target));
  for (const name of ["from", "to"]) query.set(name, instant(query.get(name)).toISOString());
  go(query);
});

function go(query) {
  location.assign(`${location.pathname}?${query}#response`);
}

// Tooltips

const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);

function title(marked) {
  const { since, until } = marked.dataset;
  if (!until) return exact.format(new Date(since));
  const [from, to] = [new Date(since), new Date(until)];
  return `${moment.format(from)} – ${from.toDateString() === to.toDateString() ? clock.format(to) : moment.format(to)}`;
}

function show(marked, x, y) {
  const [first, ...rest] = marked.dataset.text.split("\n");
  const head = document.createElement("b");
  head.textContent = marked.dataset.since ? title(marked) : first;
  tip.replaceChildren(head, (marked.dataset.since ? [first, ...rest] : rest).join("\n"));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 14 + box.width > innerWidth - 8 ? x - 14 - box.width : x + 14;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${Math.max(8, Math.min(y - box.height - 10, innerHeight - box.height - 8))}px`;
}

document.addEventListener("pointermove", (event) => {
  const marked = event.target.closest?.("[data-text]");
  if (marked) show(marked, event.clientX, event.clientY);
  else tip.hidden = true;
});
document.addEventListener("pointerdown", (event) => {
  const marked = event.target.closest?.("[data-text]");
  if (marked && event.pointerType === "touch") show(marked, event.clientX, event.clientY);
});
document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });

// Days by keyboard: one of them is in the order of tabs, and the arrows move along.

document.addEventListener("focusin", (event) => {
  const link = event.target.closest?.("[data-days] a");
  if (!link) { tip.hidden = true; return; }
  const box = link.getBoundingClientRect();
  if (link.matches(":focus-visible")) show(link, box.left, box.top);
});
document.addEventListener("keydown", (event) => {
  const link = event.target.closest?.("[data-days] a");
  const step = { ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling" }[event.key];
  if (!link || !step) return;
  event.preventDefault();
  link[step]?.focus();
});

// Zoom

const SMALLEST_PX = 8;
const SHORTEST_MS = 120000;
let drag = null;

document.addEventListener("pointerdown", (event) => {
  const field = event.target.closest?.("[data-zoom] .graph");
  if (!field || event.pointerType === "touch" || event.button !== 0) return;
  event.preventDefault();
  drag = { field, box: field.getBoundingClientRect(), from: event.clientX, mark: null };
});
document.addEventListener("pointermove", (event) => {
  if (!drag || Math.abs(event.clientX - drag.from) < SMALLEST_PX) return;
  if (!drag.mark) {
    drag.mark = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    drag.mark.setAttribute("class", "selection");
    drag.mark.setAttribute("y", "12");
    drag.mark.setAttribute("height", "160");
    drag.field.append(drag.mark);
  }
  const [left, right] = span(event.clientX);
  drag.mark.setAttribute("x", `${100 * left}%`);
  drag.mark.setAttribute("width", `${100 * (right - left)}%`);
});
document.addEventListener("pointerup", (event) => {
  const done = drag;
  if (!done) return;
  const [left, right] = span(event.clientX);
  drag = null;
  done.mark?.remove();
  if (!done.mark) return;
  const { since, until } = done.field.closest("[data-plot]").dataset;
  const start = Date.parse(since);
  const length = Date.parse(until) - start;
  const from = start + left * length;
  const to = Math.max(start + right * length, from + SHORTEST_MS);
  const query = new URLSearchParams(location.search);
  for (const name of ["range", "checks"]) query.delete(name);
  query.set("from", new Date(from).toISOString());
  query.set("to", new Date(to).toISOString());
  go(query);
});
document.addEventListener("pointercancel", () => { drag?.mark?.remove(); drag = null; });

function span(x) {
  const share = (at) => Math.min(Math.max((at - drag.box.left) / drag.box.width, 0), 1);
  const ends = [share(drag.from), share(x)];
  return [Math.min(...ends), Math.max(...ends)];
}

localise();
document.addEventListener("swapped", (event) => localise(event.target));
