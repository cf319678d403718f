// Keeps the preview of a status page up to date: as events come, and while somebody types in its settings.

import { live } from "./console.js";

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
  file.setAttribute("aria-label", `${field.labels[0].firstChild.textContent.trim()} from a file`);
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
