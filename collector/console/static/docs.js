// Copy buttons, and a search that filters while it is typed. Without scripts the form searches.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.nextElementSibling.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}
const field = document.querySelector("input[type=search]");
const items = [...document.querySelectorAll("[data-words]")];
if (field && items.length) {
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of items) item.hidden = !words.every((word) => item.dataset.words.includes(word));
    for (const section of document.querySelectorAll("section.subject")) {
      section.hidden = !section.querySelector("[data-words]:not([hidden])");
    }
    document.querySelector("#introduction")?.toggleAttribute("hidden", words.length > 0);
    const shown = items.filter((item) => !item.hidden).length;
    document.querySelector("output").textContent = shown ? "" : "No operation matches.";
  });
}
