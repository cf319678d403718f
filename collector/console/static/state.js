// The tab of a page that shows all monitors: its title and its icon follow what the page says.

function follow() {
  const state = document.querySelector("[data-tab-title]");
  if (!state) return;
  document.title = state.dataset.tabTitle;
  const icon = document.querySelector("link[rel=icon]");
  if (icon.getAttribute("href") !== state.dataset.tabIcon) icon.href = state.dataset.tabIcon;
}

document.addEventListener("swapped", follow);
