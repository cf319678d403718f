// Forms: cards of types are found by a word; a fold opens for the field that a link or a fault leads to.

const search = document.querySelector("[data-kind-search]");

if (search) {
  search.closest("[hidden]").hidden = false;
  const cards = [...document.querySelectorAll(".kind-cards li")];
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const card of cards) {
      const text = `${card.textContent} ${card.closest("section").querySelector("h2").textContent}`.toLowerCase();
      card.hidden = !words.every((word) => text.includes(word));
    }
    for (const section of document.querySelectorAll(".kinds section")) {
      section.hidden = !section.querySelector("li:not([hidden])");
    }
    document.querySelector("[data-no-kind]").hidden = cards.some((card) => !card.hidden);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    document.querySelector(".kind-cards li:not([hidden]) a")?.click();
  });
  document.querySelector(".kinds").addEventListener("toggle", (event) => { if (event.target.open) search.focus(); });
}

// A required field in a fold cannot be focused by the browser unless the fold is open.
document.addEventListener("invalid", (event) => {
  event.target.closest("details:not([open])")?.setAttribute("open", "");
}, true);
