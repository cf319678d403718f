/* Keeps an open status page up to date, and writes its times in the visitor's own zone. Without it the page is whole too. */
"use strict";
(() => {
  const EVERY_MS = 15_000;
  const SLOWEST_MS = 120_000;
  const OLD_MS = 120_000;
  const ZONE = "tocsin-zone";
  const root = document.documentElement;
  const tongue = navigator.languages.find((one) => one.split("-")[0] === root.lang) || root.lang;
  let written;
  const zones = document.querySelector("#zone");

  /* The visitor's own zone, unless another one was chosen here before. */
  function useZone(zone) {
    written = new Intl.DateTimeFormat(tongue === "en" ? "en-GB" : tongue, {
      year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short",
      numberingSystem: "latn", timeZone: zone || undefined,
    });
  }

  /* Storage may be forbidden: then a choice lasts as long as the page. */
  function remembered() {
    try {
      return localStorage.getItem(ZONE) || "";
    } catch {
      return "";
    }
  }

  function remember(zone) {
    try {
      localStorage.setItem(ZONE, zone);
    } catch {
      /* It is not remembered. */
    }
  }

  function offerZones() {
    if (!zones) return;
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
    zones.options[0].text += ` (${own})`;
    for (const zone of Intl.supportedValuesOf("timeZone")) if (zone !== "UTC") zones.add(new Option(zone.replaceAll("_", " "), zone));
    zones.value = remembered();
    zones.closest(".zones").hidden = false;
    zones.addEventListener("change", () => {
      useZone(zones.value);
      remember(zones.value);
      localise(document);
    });
  }

  function localise(within) {
    for (const time of within.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      time.title ||= time.textContent;
      time.textContent = written.format(at);
    }
  }

  /* A native title appears by mouse alone: here each bar has one tooltip for mouse and touch. */
  const tip = document.createElement("p");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");

  function prepareBars(within) {
    for (const title of within.querySelectorAll(".days title")) {
      title.parentNode.dataset.text = title.textContent;
      title.remove();
    }
  }

  function barAt(days, x) {
    const box = days.getBoundingClientRect();
    const from = root.dir === "rtl" ? box.right - x : x - box.left;
    const place = (from / box.width) * days.viewBox.baseVal.width;
    return Array.from(days.querySelectorAll("path")).reverse().find((bar) => bar.getBBox().x <= place);
  }

  function showTip(event) {
    const days = event.target instanceof Element ? event.target.closest(".days") : null;
    const text = days && barAt(days, event.clientX)?.dataset.text;
    tip.hidden = !text;
    if (!text) return;
    if (!tip.isConnected) document.body.append(tip);
    tip.textContent = text;
    const half = tip.offsetWidth / 2 + 8;
    const middle = Math.max(half, Math.min(event.clientX, root.clientWidth - half));
    tip.style.left = `${middle - half + 8 + scrollX}px`;
    tip.style.top = `${days.getBoundingClientRect().top - tip.offsetHeight - 6 + scrollY}px`;
  }

  /* Paper cannot be unfolded. */
  let unfolded = [];

  function unfold() {
    unfolded = Array.from(document.querySelectorAll("details.group:not([open])"));
    for (const group of unfolded) group.open = true;
  }

  function fold() {
    for (const group of unfolded) group.open = false;
    unfolded = [];
  }

  function opened(within) {
    return Array.from(within.querySelectorAll("details"), (one) => one.open);
  }

  /* What was open stays open, and who was at a part of the page by keyboard stays there. */
  function put(fresh) {
    const main = document.querySelector("main");
    const next = fresh.querySelector("main");
    if (!main || !next) return;
    const active = document.activeElement;
    const fold = Array.from(main.querySelectorAll("summary")).indexOf(active);
    const link = main.contains(active) ? active.getAttribute("href") : null;
    const open = opened(main);
    const known = Array.from(next.querySelectorAll("details"));
    if (known.length === open.length) known.forEach((one, place) => { one.open ||= open[place]; });
    localise(next);
    prepareBars(next);
    tip.hidden = true;
    main.replaceChildren(...next.childNodes);
    document.title = fresh.title;
    const again = link === null ? main.querySelectorAll("summary")[fold] : main.querySelector(`a[href="${CSS.escape(link)}"]`);
    again?.focus({ preventScroll: true });
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
    const answer = await fetch(location.pathname + location.search, {
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

  try {
    useZone(remembered());
  } catch {
    useZone("");
  }
  offerZones();
  localise(document);
  prepareBars(document);
  for (const name of ["pointerdown", "pointermove"]) document.addEventListener(name, showTip);
  addEventListener("beforeprint", unfold);
  addEventListener("afterprint", fold);
  /* Only what tells how all is changes by itself: never a form, nor what came of one. */
  if (document.querySelector(".as-of, .widget")) {
    setTimeout(turn, EVERY_MS);
    document.addEventListener("visibilitychange", () => { if (!document.hidden) look().catch(() => {}); });
  }
})();
