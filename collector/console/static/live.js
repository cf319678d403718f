// The rows of the list of monitors: each check of a monitor is drawn as it comes in, while the list is visible.

import { refresh, showTimes } from "./console.js";

const SVG = "http://www.w3.org/2000/svg";
const rows = () => [...document.querySelectorAll("[data-row][data-id]")];

let source = null;

function bar([x, level, words]) {
  const rect = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ class: level, x, width: 3, height: 20 })) rect.setAttribute(name, value);
  rect.append(document.createElementNS(SVG, "title"));
  rect.firstChild.textContent = words;
  return rect;
}

function latency(ms) {
  return ms < 9995 ? `${Math.round(ms).toLocaleString("en")} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function draw(row, check) {
  const first = !row.dataset.at;
  row.dataset.at = check.at;
  // Only the server knows the state that a first check leads to, and the counters with it.
  if (first) return refresh(row.closest("[data-part]"));
  const bars = row.querySelector(".bars");
  bars.replaceChildren(...check.bars.map(bar));
  bars.setAttribute("aria-label", check.summary);
  row.querySelector(".spark path").setAttribute("d", check.spark);
  row.querySelector("[data-ms]").textContent = check.ms ? latency(check.ms) : "–";
  const time = row.querySelector(".checked time");
  if (time) {
    time.dateTime = check.at;
    time.title = `${check.at.slice(0, 19).replace("T", " ")} UTC`;
  }
  showTimes(row);
}

function listen() {
  source?.close();
  source = null;
  const shown = rows().map((row) => `${row.dataset.id}@${row.dataset.at}`);
  if (document.hidden || shown.length === 0) return;
  source = new EventSource(`/monitors/live?${new URLSearchParams({ shown: shown.join(",") })}`);
  source.addEventListener("check", (event) => {
    const check = JSON.parse(event.data);
    const row = rows().find((each) => each.dataset.id === check.id);
    if (row) draw(row, check);
  });
}

document.addEventListener("visibilitychange", listen);
document.addEventListener("swapped", listen);
addEventListener("pagehide", () => source?.close());
listen();
