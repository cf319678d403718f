// Keeps the preview of a status page up to date: as events come, and while somebody types in its settings.

import { live } from "./console.js";

const WAIT_MS = 500;
const KINDS = ["monitor.down", "monitor.up", "monitor.degraded", "status_page.incident.published", "status_page.incident.updated"];
const seen = document.querySelector("iframe.seen");
const button = document.querySelector("[data-preview]");
let waiting = 0;

function later(deed) {
  clearTimeout(waiting);
  waiting = setTimeout(deed, WAIT_MS);
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
