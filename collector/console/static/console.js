// The console's kernel: times in the viewer's zone, theme, shortcuts, questions before actions, live parts.
// Pages work without it; scripts of single pages import from it: `import { live, swap } from "./console.js"`.

import { keep, keepTyped } from "./drafts.js";
import { locale, translate } from "./texts.js";
import { format } from "./times.js";

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// Times

const whole = format({ dateStyle: "medium", timeStyle: "short" });
const exact = format({ dateStyle: "medium", timeStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

function since(moment) {
  const seconds = (moment - Date.now()) / 1000;
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? UNITS[3];
  return relative.format(Math.trunc(seconds / size), unit);
}

export function showTimes(root = document) {
  for (const time of all("time[data-time], time[data-ago]", root)) {
    const moment = new Date(time.dateTime);
    time.textContent = "ago" in time.dataset ? since(moment) : (time.dataset.time === "exactly" ? exact : whole).format(moment);
  }
}

// Requests of scripts

const csrf = () => one("meta[name=csrf]")?.content ?? "";

// POST a form's fields (an object, FormData or nothing) as this session; the answer is a Response.
export function post(path, fields = {}) {
  const body = fields instanceof FormData ? new URLSearchParams(fields) : new URLSearchParams(fields);
  return fetch(path, { method: "POST", body, headers: { "X-CSRF": csrf() } });
}

// Parts: a page is asked for the block that an element shows, and the element takes it over.

const asked = new WeakMap();

// Put *html* into *element*; what the reader has focused or opened stays so if it has an id.
export function swap(element, html) {
  const focused = element.contains(document.activeElement) ? document.activeElement.id : "";
  const opened = all("details[open][id]", element).map((details) => details.id);
  element.innerHTML = html;
  showTimes(element);
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  enhance(element);
  element.dispatchEvent(new CustomEvent("swapped", { bubbles: true }));
}

// The session has ended: the same address leads to the sign-in and back, with what was typed here.
export function signInAgain() {
  keepTyped();
  location.reload();
}

// Load the part anew, from *path* or from where the page itself is; one request at a time for each element.
export async function refresh(element, path = element.dataset.from ?? location.href) {
  if (asked.has(element)) return asked.set(element, true);
  asked.set(element, false);
  try {
    const answer = await fetch(path, { headers: { "X-Part": element.dataset.part } });
    if (answer.status === 401) return signInAgain();
    if (answer.ok && answer.headers.get("X-Part") === element.dataset.part) swap(element, await answer.text());
  } catch {
    // It is asked for again with the next event.
  }
  const again = asked.get(element);
  asked.delete(element);
  if (again) later(element);
}

const waiting = new Map();

function later(element) {
  if (waiting.has(element)) return;
  waiting.set(element, setTimeout(() => { waiting.delete(element); refresh(element); }, 150));
}

// Live: one stream of events for the page, only while somebody can see it.

const heard = new Map();
let source = null;
let lastId = "";
let again = 0;

// Call *tell* with the event's kind and its data whenever one of *kinds* happens; `reset` means: load anew.
export function live(kinds, tell) {
  for (const kind of [...kinds, "reset"]) heard.set(kind, [...(heard.get(kind) ?? []), tell]);
  listen();
}

function listen() {
  source?.close();
  source = null;
  if (document.hidden || heard.size === 0) return;
  const query = new URLSearchParams([...heard.keys()].filter((kind) => kind !== "reset").map((kind) => ["kind", kind]));
  if (lastId) query.set("lastEventId", lastId);
  source = new EventSource(`/events?${query}`);
  for (const [kind, tells] of heard) {
    source.addEventListener(kind, (event) => {
      lastId = event.lastEventId || lastId;
      for (const tell of tells) tell(kind, JSON.parse(event.data));
    });
  }
  source.onopen = () => note("");
  source.onerror = () => {
    note(translate("Connection lost; trying again"));
    if (source?.readyState === EventSource.CLOSED) refused();
  };
}

// A stream that is refused does not say why, and does not try again. What a part of the page answers tells
// whether the session is over.
function refused() {
  all("[data-live]").forEach(later);
  clearTimeout(again);
  again = setTimeout(listen, 3000 + 4000 * Math.random());
}

function note(text) {
  let element = one(".offline-note");
  if (!text) return element?.remove();
  if (!element) {
    element = document.createElement("p");
    element.className = "offline-note";
    element.setAttribute("role", "status");
    document.body.append(element);
  }
  element.textContent = text;
}

document.addEventListener("visibilitychange", () => {
  const back = !document.hidden && source === null && heard.size > 0;
  listen();
  if (back) all("[data-live]").forEach(later);
});
addEventListener("pagehide", () => source?.close());

// Questions before actions

const confirmed = new WeakSet();

document.addEventListener("submit", (event) => {
  const form = event.target;
  const asking = event.submitter?.dataset.confirm ?? form.dataset.confirm;
  const dialog = one("#confirm");
  if (asking && dialog && !confirmed.has(form)) {
    event.preventDefault();
    one("#confirm-text").textContent = asking;
    one("#confirm-yes").textContent = (event.submitter?.textContent ?? translate("Yes")).trim();
    dialog.returnValue = "no";
    dialog.showModal();
    dialog.onclose = () => {
      if (dialog.returnValue !== "yes") return;
      confirmed.add(form);
      form.requestSubmit(event.submitter);
    };
    return;
  }
  if (form.getAttribute("method") === "post" && !event.defaultPrevented) {
    keep(form);
    setTimeout(() => all("button", form).forEach((button) => { button.disabled = true; }));
  }
});
addEventListener("pageshow", (event) => {
  if (event.persisted) all("button[disabled]").forEach((button) => { button.disabled = false; });
});

// Clicks

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  document.cookie = `tocsin_theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax`;
}

async function copy(button) {
  const text = one("pre, input", button.parentElement);
  await navigator.clipboard.writeText(text.value ?? text.textContent);
  const said = button.lastChild.textContent;
  button.lastChild.textContent = translate("Copied");
  setTimeout(() => { button.lastChild.textContent = said; }, 1500);
}

function addRow(button) {
  const rows = button.closest("[data-rows]");
  const at = all(":scope > .row", rows).length;
  const row = one(":scope > template", rows).content.cloneNode(true);
  for (const element of all("[id], [name], [for], [aria-describedby]", row)) {
    for (const name of ["id", "name", "for", "aria-describedby"]) {
      if (element.hasAttribute(name)) element.setAttribute(name, element.getAttribute(name).replaceAll("#", at));
    }
  }
  button.before(row);
  one(".row:last-of-type input, .row:last-of-type select", rows)?.focus();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if ("themeSwitch" in button.dataset) theme();
  else if ("shortcuts" in button.dataset) one("#shortcuts").showModal();
  else if ("copy" in button.dataset) copy(button);
  else if ("addRow" in button.dataset) addRow(button);
});

// Keys

let leader = false;

function move(step) {
  const rows = all("[data-row]");
  const at = rows.indexOf(document.activeElement.closest("[data-row]"));
  const row = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
  row?.setAttribute("tabindex", "-1");
  row?.focus();
}

const KEYS = {
  "?": () => one("#shortcuts")?.showModal(),
  "/": () => one("[data-search]")?.focus(),
  n: () => one("[data-new]")?.click(),
  t: theme,
  j: () => move(1),
  k: () => move(-1),
  Enter: () => one("a", document.activeElement.closest("[data-row]") ?? document.createElement("p"))?.click(),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.ctrlKey || event.metaKey || event.altKey || typing || one("dialog[open]")) return;
  if (leader) {
    leader = false;
    const link = all("[data-key]").find((each) => each.dataset.key === event.key);
    if (link) { event.preventDefault(); link.click(); }
    return;
  }
  if (event.key === "g") {
    leader = true;
    setTimeout(() => { leader = false; }, 1200);
    return;
  }
  if (event.key === "Enter" && document.activeElement.matches("a, button")) return;
  const act = KEYS[event.key];
  if (act) {
    if (event.key !== "Enter") event.preventDefault();
    act();
  }
});

// Enter in a form with a search does what its main button does, and in the search what stands beside it.

document.addEventListener("keydown", (event) => {
  const field = event.target;
  if (event.key !== "Enter" || event.isComposing || !field.matches?.("form input:not([type=search])")) return;
  const main = one(".pick", field.form) && one("[data-main]", field.form);
  if (!main) return;
  event.preventDefault();
  field.form.requestSubmit(main);
});

// What is typed twice is compared before it is sent: nobody types both again for that.

document.addEventListener("input", (event) => {
  for (const again of all("[data-repeats]", event.target.form ?? document.createElement("form"))) {
    const same = again.value === again.form.elements[again.dataset.repeats].value;
    again.setCustomValidity(same ? "" : translate("This differs from what stands above."));
  }
});

// What scripts add to a page, or to a part of it that was loaded anew.

function enhance(root) {
  all("[data-theme-switch], [data-shortcuts], [data-copy], [data-add-row]", root).forEach((each) => { each.hidden = false; });
  for (const select of all("select[data-submit]", root)) select.addEventListener("change", () => select.form.requestSubmit());
}

// What can be undone floats above the page, and leaves after a while, though not under the pointer or the focus.

const TOAST_MS = 10000;

function toast(element) {
  element.classList.add("toast");
  const leave = () => setTimeout(() => { if (element.matches(":hover, :focus-within")) leave(); else element.remove(); }, TOAST_MS);
  leave();
}

all("[data-toast]").forEach(toast);
enhance(document);
showTimes();
setInterval(() => { if (!document.hidden) showTimes(); }, 20000);
one("[data-focus]")?.focus();
one(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
for (const element of all("[data-live]")) live(element.dataset.live.split(" "), () => later(element));

// The app's worker has the version of the scripts: a new version is a new worker.
const version = new URL(import.meta.url).pathname.split("/")[2];
navigator.serviceWorker?.register(`/worker.js?v=${version}`).catch(() => {});
