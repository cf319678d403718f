// The service worker: without a network it shows a page that says so. It keeps nothing but the shell: no page
// of a session, no data, and it answers nothing but navigations of the console.

const version = new URL(location.href).searchParams.get("v");
const NAME = `tocsin-${version}`;
const SHELL = ["/offline", `/assets/${version}/console.css`, `/assets/${version}/bell.svg`];
const ELSEWHERE = ["/status/", "/subscriptions/", "/v1/"];

addEventListener("install", (event) => {
  // Without cookies: what is kept belongs to nobody.
  const requests = SHELL.map((path) => new Request(path, { credentials: "omit", cache: "reload" }));
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(requests)).then(() => skipWaiting()));
});

addEventListener("activate", (event) => {
  const drop = (names) => Promise.all(names.filter((name) => name !== NAME).map((name) => caches.delete(name)));
  event.waitUntil(caches.keys().then(drop).then(() => clients.claim()));
});

addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (ELSEWHERE.some((start) => pathname.startsWith(start))) return;
  if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => caches.match("/offline")));
  else if (SHELL.includes(pathname)) event.respondWith(fetch(request).catch(() => caches.match(pathname)));
});
