/* Keeps an open status page up to date, and writes its times in the visitor's own zone. Without it the page is whole too. */
"use strict";
(() => {
  const EVERY_MS = 15_000;
  const SLOWEST_MS = 120_000;
  const OLD_MS = 120_000;
  const root = document.documentElement;
  const tongue = navigator.languages.find((one) => one.split("-")[0] === root.lang) || root.lang;
  const written = new Intl.DateTimeFormat(tongue === "en" ? "en-GB" : tongue, {
    year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short",
  });

  function localise(within) {
    for (const time of within.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      time.title ||= time.textContent;
      time.textContent = written.format(at);
    }
  }

  function opened(within) {
    return Array.from(within.querySelectorAll("details"), (one) => one.open);
  }

  /* What was open stays open, and who was at a part of the page by keyboard stays there. */
  function put(fresh) {
    const main = document.querySelector("main");
    const next = fresh.querySelector("main");
    if (!main || !next) return;
    const summaries = Array.from(main.querySelectorAll("summary, a"));
    const focused = summaries.indexOf(document.activeElement);
    const open = opened(main);
    const known = Array.from(next.querySelectorAll("details"));
    if (known.length === open.length) known.forEach((one, place) => { one.open ||= open[place]; });
    localise(next);
    main.replaceChildren(...next.childNodes);
    document.title = fresh.title;
    if (focused >= 0) main.querySelectorAll("summary, a")[focused]?.focus({ preventScroll: true });
  }

  function date(answer, name) {
    const at = new Date(answer.headers.get(name) || "");
    return Number.isNaN(at.getTime()) ? null : at;
  }

  function say(at, stale) {
    const asOf = document.querySelector(".as-of");
    if (asOf && at) {
      asOf.dateTime = at.toISOString();
      asOf.textContent = written.format(at);
      asOf.removeAttribute("title");
    }
    const line = document.querySelector(".stale");
    const text = stale ? line?.dataset.text : "";
    if (line && line.textContent !== text) line.textContent = text;
  }

  let tag = "";
  let failures = 0;

  async function look() {
    const answer = await fetch(location.pathname, {
      cache: "no-store", headers: tag ? { "If-None-Match": tag } : {}, signal: AbortSignal.timeout(EVERY_MS),
    });
    if (answer.status === 401 || answer.status === 404) return location.reload();
    if (answer.status !== 304 && !answer.ok) throw new Error(String(answer.status));
    if (answer.status !== 304) {
      tag = answer.headers.get("ETag") || "";
      put(new DOMParser().parseFromString(await answer.text(), "text/html"));
    }
    const at = date(answer, "Last-Modified");
    const now = date(answer, "Date");
    say(at, at !== null && now !== null && now - at > OLD_MS);
  }

  async function turn() {
    if (!document.hidden) {
      try {
        await look();
        failures = 0;
      } catch {
        failures += 1;
        if (failures > 1) say(null, true);
      }
    }
    setTimeout(turn, Math.min(EVERY_MS * 2 ** failures, SLOWEST_MS));
  }

  localise(document);
  /* Only what tells how all is changes by itself: never a form, nor what came of one. */
  if (document.querySelector(".as-of, .widget")) {
    setTimeout(turn, EVERY_MS);
    document.addEventListener("visibilitychange", () => { if (!document.hidden) look().catch(() => {}); });
  }
})();
