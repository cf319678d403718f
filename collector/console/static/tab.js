// The tab of any page: its title and icon say how many incidents are open, also while nobody looks at it, and
// the desktop is notified of a new one if the visitor wants that in this browser. Of all tabs only one asks.

import { translate } from "./texts.js";

const KINDS = ["monitor.down", "monitor.up", "incident.created", "incident.acknowledged", "incident.resolved", "incident.reopened"];
const SETTING = "tocsin-notifications";
const visitor = document.querySelector("meta[name=visitor]").content;
const others = new BroadcastChannel(`tocsin-tab-${visitor}`);
const icons = document.querySelector("link[rel=icon]").dataset;
const title = document.title;
let known = null;
let asking = null;

function show(state) {
  // The overview and the wall speak for themselves.
  if (document.querySelector("[data-tab-title]")) return;
  document.title = (state.count ? `(${state.count}) ` : "") + title;
  const icon = document.querySelector("link[rel=icon]");
  const wanted = icons[state.count === 0 ? "good" : state.unacknowledged ? "bad" : "warn"];
  if (icon.getAttribute("href") !== wanted) icon.href = wanted;
}

async function ask() {
  asking = null;
  try {
    const answer = await fetch("/state", { headers: { "X-Part": "state" } });
    if (!answer.ok) return;
    const state = await answer.json();
    show(state);
    others.postMessage(state);
    notify(state.newest);
  } catch {
    // The next event asks again.
  }
}

function notify(newest) {
  const unheard = known === null ? [] : newest.filter((incident) => !known.has(incident.id));
  known = new Set([...(known ?? []), ...newest.map((incident) => incident.id)]);
  if (localStorage.getItem(SETTING) !== "on" || globalThis.Notification?.permission !== "granted") return;
  for (const incident of unheard) {
    const note = new Notification(incident.title, { body: translate("%(severity)s incident", { severity: translate(incident.severity) }), tag: incident.id });
    note.onclick = () => { focus(); location.href = `/incidents/${incident.id}`; };
  }
}

function follow() {
  const source = new EventSource(`/events?${new URLSearchParams(KINDS.map((kind) => ["kind", kind]))}`);
  for (const kind of [...KINDS, "reset"]) source.addEventListener(kind, () => { asking ??= setTimeout(ask, 300); });
  addEventListener("pagehide", () => source.close());
  asking ??= setTimeout(ask, 300);
}

others.onmessage = ({ data }) => show(data);
ask();
// Held until this tab is closed; then the next one that waits follows.
navigator.locks?.request(`tocsin-tab-${visitor}`, () => new Promise(follow));

// The switch in the settings of the account: permission is asked for by a click alone.

const setting = document.querySelector("[data-notifications]");

function draw() {
  const on = localStorage.getItem(SETTING) === "on" && Notification.permission === "granted";
  setting.querySelector("button").textContent = on ? translate("Turn off in this browser") : translate("Turn on in this browser");
  const refused = Notification.permission === "denied";
  setting.querySelector("[role=status]").textContent =
    refused
      ? translate("This browser refuses them: allow notifications for this site in its settings.")
      : on ? translate("On in this browser.") : translate("Off in this browser.");
}

if (setting && globalThis.Notification) {
  setting.hidden = false;
  draw();
  setting.querySelector("button").addEventListener("click", async () => {
    const on = localStorage.getItem(SETTING) === "on" && Notification.permission === "granted";
    if (!on) await Notification.requestPermission();
    localStorage.setItem(SETTING, on ? "off" : "on");
    draw();
  });
}
