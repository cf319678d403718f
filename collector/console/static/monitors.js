// The list of monitors: ticking all of a page.

function offer() {
  for (const box of document.querySelectorAll("[data-tick-all]")) {
    box.hidden = false;
    box.onchange = () => {
      for (const each of box.form.querySelectorAll("input[name=id]")) each.checked = box.checked;
    };
  }
}

offer();
document.addEventListener("swapped", offer);
