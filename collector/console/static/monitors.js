// The list of monitors: what is selected, which groups are folded. Both outlast a part that is loaded anew.

import { locale, translate } from "./texts.js";

const all = (selector) => [...document.querySelectorAll(selector)];
const selected = new Set();
const FOLDED = "tocsin_folded";

let everything = false;

function folded() {
  try {
    return new Set(JSON.parse(localStorage.getItem(FOLDED) ?? "[]"));
  } catch {
    return new Set();
  }
}

function keep(details) {
  const names = folded();
  if (details.open) names.delete(details.dataset.fold);
  else names.add(details.dataset.fold);
  localStorage.setItem(FOLDED, JSON.stringify([...names]));
}

function show() {
  const bar = document.querySelector("[data-bulk]");
  if (!bar) return;
  const boxes = all("input[name=id]");
  const every = document.querySelector("[data-all]");
  const count = every.checked ? Number(bar.dataset.total) : boxes.filter((box) => box.checked).length;
  const shown = count.toLocaleString(locale);
  bar.hidden = count === 0;
  bar.querySelector("[data-selected]").textContent = translate("%(count)s selected", { count: shown });
  bar.querySelector("[data-confirm]").dataset.confirm =
    count === 1
      ? translate("Delete %(count)s monitor and its history? This cannot be undone.", { count: shown })
      : translate("Delete %(count)s monitors and their history? This cannot be undone.", { count: shown });
  for (const box of all("[data-tick-all]")) {
    const mine = [...box.closest("table").querySelectorAll("input[name=id]")];
    box.checked = mine.every((each) => each.checked);
  }
}

function offer() {
  const names = folded();
  for (const details of all("[data-fold]")) {
    if (names.has(details.dataset.fold)) details.open = false;
    details.ontoggle = () => keep(details);
  }
  for (const box of all("[data-tick-all]")) box.hidden = false;
  for (const box of all("input[name=id]")) box.checked ||= selected.has(box.value);
  const every = document.querySelector("[data-all]");
  if (every) every.checked ||= everything;
  show();
}

document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-tick-all]")) {
    for (const each of target.closest("table").querySelectorAll("input[name=id]")) each.checked = target.checked;
  }
  selected.clear();
  for (const box of all("input[name=id]")) if (box.checked) selected.add(box.value);
  everything = document.querySelector("[data-all]")?.checked ?? false;
  show();
});

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input:not([type=checkbox]), textarea, select, dialog");
  if (event.key !== "x" || event.ctrlKey || event.metaKey || event.altKey || typing) return;
  document.activeElement.closest("[data-row]")?.querySelector("input[name=id]")?.click();
});

offer();
document.addEventListener("swapped", offer);
