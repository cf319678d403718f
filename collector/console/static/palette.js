// The command palette: Ctrl+K shows it, what is typed is searched, the arrow keys choose, Enter opens.

import { signInAgain, showTimes } from "./console.js";
import { translate } from "./texts.js";

const dialog = document.querySelector("#palette");
const field = document.querySelector("#palette-q");
const list = document.querySelector("#palette-hits");
const none = document.querySelector("#palette-none");
const options = () => [...list.querySelectorAll("[role=option]")];

let asked = null;
let timer = 0;
let shownFor = null;

function open() {
  if (!dialog || document.querySelector("dialog[open]")) return;
  dialog.showModal();
  field.select();
  search();
}

function choose(option) {
  for (const each of options()) each.setAttribute("aria-selected", each === option);
  field.setAttribute("aria-activedescendant", option?.id ?? "");
  option?.scrollIntoView({ block: "nearest" });
}

// The page of results is a list of links; here its links are the options of a combobox.
function draw(html) {
  list.innerHTML = html;
  list.querySelectorAll(":scope > :not(section)").forEach((each) => each.remove());
  for (const section of list.querySelectorAll("section")) {
    section.setAttribute("role", "group");
    section.setAttribute("aria-label", section.querySelector("h2").textContent);
    section.querySelectorAll("h2, ul, li").forEach((each) => each.setAttribute("role", "presentation"));
  }
  list.querySelectorAll("a").forEach((link, at) => {
    link.id = `palette-${at}`;
    link.setAttribute("role", "option");
    link.tabIndex = -1;
  });
  showTimes(list);
  const found = options();
  field.setAttribute("aria-expanded", found.length > 0);
  list.hidden = found.length === 0;
  none.textContent = found.length > 0 ? "" : translate("No results");
  choose(found[0]);
}

async function search() {
  const text = field.value.trim();
  asked?.abort();
  asked = new AbortController();
  const { signal } = asked;
  try {
    const answer = await fetch(`/search?${new URLSearchParams({ q: text })}`, { headers: { "X-Part": "hits" }, signal });
    if (answer.status === 401) return signInAgain();
    if (answer.headers.get("X-Part") !== "hits") throw new Error(answer.statusText);
    const html = await answer.text();
    if (signal.aborted) return;
    shownFor = text;
    draw(html);
  } catch {
    if (!signal.aborted) none.textContent = translate("The search did not answer. Press Enter to try again.");
  }
}

// What is chosen belongs to what was typed: Enter waits for the results of the last letter.
async function enter(newTab) {
  clearTimeout(timer);
  if (shownFor !== field.value.trim()) await search();
  const option = list.querySelector("[aria-selected=true]");
  if (!option) return;
  if (newTab) window.open(option.href, "_blank", "noopener");
  else location.assign(option.href);
}

function step(by) {
  const found = options();
  const at = found.findIndex((each) => each.getAttribute("aria-selected") === "true");
  choose(found[(at + by + found.length) % found.length]);
}

document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k") return;
  event.preventDefault();
  if (dialog?.open) dialog.close();
  else open();
});

document.querySelector("[data-palette]")?.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  open();
});

field?.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(search, 80);
});

field?.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    if (options().length > 0) step(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter") {
    event.preventDefault();
    enter(event.ctrlKey || event.metaKey);
  }
});

dialog?.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
