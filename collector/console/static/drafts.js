// What was typed survives the end of a session: fields of a form are kept in the tab until the next page shows
// whether the form arrived. After signing in again they are filled in, and sent by nobody but the user.

import { translate } from "./texts.js";

const KEPT = "tocsin_typed";
const visitor = document.querySelector("meta[name=visitor]")?.content ?? "";
const typable = (field) => field.name && field.name !== "csrf" && !["password", "hidden", "file", "submit", "button"].includes(field.type);
const checkable = (field) => field.type === "checkbox" || field.type === "radio";
const fields = (form) => [...form.elements].filter(typable);

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT));
  } catch {
    return null;
  }
}

function write(entry) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(entry));
  } catch {
    // Without storage it is as it was before: the text is lost with the session.
  }
}

// Keep what *form* has; *interrupted*: it is known already that it was not sent.
export function keep(form, interrupted = false) {
  if (!visitor) return;
  const values = fields(form).map((field) => (
    { name: field.name, value: field.value, checked: checkable(field) ? field.checked : null }
  ));
  write({ visitor, action: form.getAttribute("action"), values, interrupted });
}

function changed(field) {
  if (checkable(field)) return field.checked !== field.defaultChecked;
  if (field instanceof HTMLSelectElement) {
    return field.selectedIndex !== Math.max(0, [...field.options].findIndex((option) => option.defaultSelected));
  }
  return field.value !== field.defaultValue;
}

// Keep the form of this page in which something was typed, before the page is left for the sign-in.
export function keepTyped() {
  const form = [...document.querySelectorAll("main form[method=post]")].find((each) => fields(each).some(changed));
  if (form) keep(form, true);
}

function fill(form, values) {
  for (const { name, value, checked } of values) {
    const named = () => fields(form).filter((field) => field.name === name);
    if (named().length === 0) addRowFor(form, name);
    for (const field of named()) {
      if (checked === null) field.value = value;
      else if (field.value === value) field.checked = checked;
      field.closest("details")?.setAttribute("open", "");
    }
  }
}

// Rows that were added by hand are added again.
function addRowFor(form, name) {
  const rows = [...form.querySelectorAll("[data-rows]")].find((each) => name.startsWith(each.dataset.rows));
  rows?.querySelector("[data-add-row]")?.click();
}

function note() {
  const flash = document.createElement("p");
  flash.className = "flash warn";
  flash.setAttribute("role", "status");
  flash.textContent = translate("Your session had ended. What you typed is filled in again; it has not been sent yet.");
  document.querySelector("main .head")?.before(flash);
}

function restore() {
  const entry = read();
  if (!entry) return;
  if (document.body.classList.contains("door")) return write({ ...entry, interrupted: true });
  sessionStorage.removeItem(KEPT);
  if (!entry.interrupted || entry.visitor !== visitor) return;
  const form = [...document.querySelectorAll("main form[method=post]")].find((each) => each.getAttribute("action") === entry.action);
  if (!form) return;
  fill(form, entry.values);
  note();
}

// After the scripts of the page, which listen to its fields.
addEventListener("DOMContentLoaded", restore);
