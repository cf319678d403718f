// Keeps the preview of a status page up to date, and lets its components and groups be dragged into order.

import { live, post } from "./console.js";
import { translate } from "./texts.js";

const WAIT_MS = 500;
const KINDS = ["monitor.down", "monitor.up", "monitor.degraded", "status_page.incident.published", "status_page.incident.updated"];
const seen = document.querySelector("iframe.seen");
const button = document.querySelector("[data-preview]");
let waiting = 0;

function later(action) {
  clearTimeout(waiting);
  waiting = setTimeout(action, WAIT_MS);
}

if (button) {
  button.form.addEventListener("submit", (event) => {
    // It leaves the form where it is: nothing is sent that could be sent twice.
    if (event.submitter === button) event.stopPropagation();
  });
  button.form.addEventListener("input", () => later(() => button.form.requestSubmit(button)));
} else if (seen) {
  live(KINDS, () => later(() => seen.contentWindow.location.reload()));
}

// A picture is chosen from disk: it goes into its field as a data URL.
for (const field of document.querySelectorAll("[name='branding.logo'], [name='branding.logoDark'], [name='branding.favicon']")) {
  const file = document.createElement("input");
  file.type = "file";
  file.accept = "image/png,image/jpeg,image/gif,image/webp,image/svg+xml,image/x-icon";
  file.setAttribute("aria-label", translate("%(name)s from a file", { name: field.labels[0].firstChild.textContent.trim() }));
  file.addEventListener("change", () => {
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      field.value = reader.result;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    if (file.files.length) reader.readAsDataURL(file.files[0]);
  });
  field.after(file);
}

// What can be ordered: each item gets a handle, which is dragged, or moved by the arrow keys.
const spoken = document.createElement("output");
spoken.className = "unseen";
document.body.append(spoken);

function place(list, item) {
  const items = [...list.querySelectorAll(":scope > [data-item]")];
  return `${items.indexOf(item) + 1} of ${items.length}`;
}

async function send(list, item) {
  const before = item.nextElementSibling?.dataset.item ?? list.dataset.after ?? "";
  const fields = { item: item.dataset.item, before, ...(list.dataset.of ? { group: "on" } : {}) };
  spoken.textContent = translate("%(name)s: place %(place)s", { name: name(item), place: place(list, item) });
  const answer = await post(list.dataset.order, fields);
  // Whole groups change the list of components, too; what failed is shown as it is.
  if (!answer.ok || list.dataset.of) location.reload();
}

function name(item) {
  return item.querySelector(".name").textContent.trim();
}

function drag(list, item, event) {
  const start = item.nextElementSibling;
  // Nothing is selected on the way. The handle cannot capture the pointer: it moves within the document.
  event.preventDefault();
  item.classList.add("dragged");
  const move = ({ clientY }) => {
    const others = [...list.querySelectorAll(":scope > [data-item]")].filter((other) => other !== item);
    const next = others.find((other) => {
      const box = other.getBoundingClientRect();
      return clientY < box.top + box.height / 2;
    });
    if ((next ?? null) !== item.nextElementSibling) list.insertBefore(item, next ?? null);
  };
  const ended = new AbortController();
  const end = () => {
    ended.abort();
    item.classList.remove("dragged");
    if (item.nextElementSibling !== start) send(list, item);
  };
  document.addEventListener("pointermove", move, { signal: ended.signal });
  document.addEventListener("pointerup", end, { signal: ended.signal });
  document.addEventListener("pointercancel", end, { signal: ended.signal });
}

function step(list, item, handle, key) {
  const next = key === "ArrowUp" ? item.previousElementSibling : item.nextElementSibling;
  if (!next) return;
  next[key === "ArrowUp" ? "before" : "after"](item);
  handle.focus();
  clearTimeout(list.sending);
  spoken.textContent = translate("%(name)s: place %(place)s", { name: name(item), place: place(list, item) });
  list.sending = setTimeout(() => send(list, item), WAIT_MS);
}

function orderable() {
  for (const list of document.querySelectorAll("[data-order]:not([data-handles])")) {
    list.dataset.handles = "";
    for (const item of list.querySelectorAll(":scope > [data-item]")) {
      const handle = document.createElement("button");
      handle.type = "button";
      handle.className = "plain small handle";
      handle.setAttribute("aria-label", translate("Move %(name)s: drag, or use the arrow keys", { name: name(item) }));
      handle.textContent = "\u2195";
      handle.addEventListener("pointerdown", (event) => drag(list, item, event));
      handle.addEventListener("keydown", (event) => {
        if (!["ArrowUp", "ArrowDown"].includes(event.key)) return;
        event.preventDefault();
        event.stopPropagation();
        step(list, item, handle, event.key);
      });
      item.querySelector(".buttons").prepend(handle);
    }
  }
}

document.addEventListener("swapped", orderable);
orderable();
