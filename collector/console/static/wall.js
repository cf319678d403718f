// A wall screen: it is loaded anew every few seconds, and says so when that fails.

import { swap } from "./console.js";
import "./state.js";

const EVERY_MS = 10000;
const main = document.querySelector("[data-part]");
let failed = 0;

async function turn() {
  try {
    const answer = await fetch(location.href, { headers: { "X-Part": main.dataset.part } });
    // The link has ended, or the session: the page itself says what to do.
    const ours = answer.headers.has("X-Request-Id");
    if (ours && ([401, 403, 404].includes(answer.status) || answer.redirected)) return location.reload();
    if (answer.headers.get("X-Part") !== main.dataset.part) throw new Error(String(answer.status));
    swap(main, await answer.text());
    failed = 0;
  } catch {
    failed += 1;
  }
  document.body.classList.toggle("stale", failed > 1);
  setTimeout(turn, EVERY_MS);
}

setTimeout(turn, EVERY_MS);
