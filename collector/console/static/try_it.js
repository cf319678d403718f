// Sends an operation's request from its page with the session of the console, and shows the answer.
const MOST = 200_000;
const HEADERS = [
  "content-type", "etag", "link", "location", "retry-after", "idempotent-replayed", "x-ratelimit-remaining", "x-request-id",
];
const csrf = document.querySelector("meta[name=csrf]").content;
const dialog = document.querySelector("#confirmation");

function element(name, text = "") {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

// The request that the fields describe; what is empty is left out.
function request(method, path, form) {
  const query = new URLSearchParams();
  const headers = { "X-CSRF": csrf };
  let url = path;
  let body;
  for (const { name, value, dataset } of form.querySelectorAll("[data-in]")) {
    if (dataset.in === "path") url = url.replace(`{${name}}`, encodeURIComponent(value.trim()));
    else if (dataset.in === "query" && value) query.append(name, value);
    else if (dataset.in === "header" && value) headers[name] = value;
    else if (dataset.in === "body" && value.trim()) body = value;
  }
  if (body) headers["Content-Type"] = "application/json";
  return { url: query.size ? `${url}?${query}` : url, options: { method, headers, body, cache: "no-store" } };
}

async function confirmed(method, url) {
  dialog.querySelector("p").textContent = `${method} ${url} changes the data of your team.`;
  dialog.returnValue = "";
  dialog.showModal();
  await new Promise((done) => { dialog.addEventListener("close", done, { once: true }); });
  return dialog.returnValue === "send";
}

function pretty(text, kind) {
  if (!kind.startsWith("application/json")) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// Shows what has come so far, as a stream of events may never end.
async function read(response, shown) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += value;
    shown.textContent = text;
    if (text.length > MOST) {
      await reader.cancel();
      return `${text.slice(0, MOST)}\n... (more is not shown here)`;
    }
  }
}

async function send({ url, options }, result, signal) {
  const began = performance.now();
  result.replaceChildren(element("p", "Sending..."));
  const response = await fetch(url, { ...options, signal });
  const status = element("p");
  status.append(element("b", `${response.status} ${response.statusText}`));
  const list = element("dl");
  for (const name of HEADERS) {
    if (response.headers.has(name)) list.append(element("dt", name), element("dd", response.headers.get(name)));
  }
  const shown = element("pre");
  shown.tabIndex = 0;
  result.replaceChildren(status, list);
  if (response.status !== 204 && response.body) {
    result.append(shown);
    shown.textContent = pretty(await read(response, shown), response.headers.get("content-type") ?? "");
  }
  status.append(` in ${Math.round(performance.now() - began)} ms`);
}

for (const details of document.querySelectorAll("details.try")) {
  const { method, path } = details.dataset;
  const [form, result] = [details.querySelector("form"), details.querySelector(".result")];
  const [start, stop] = form.querySelectorAll("button");
  details.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const wanted = request(method, path, form);
    if (method !== "GET" && !(await confirmed(method, wanted.url))) return;
    const abort = new AbortController();
    stop.onclick = () => abort.abort();
    start.disabled = true;
    stop.hidden = false;
    try {
      await send(wanted, result, abort.signal);
    } catch (error) {
      result.append(element("p", abort.signal.aborted ? "Stopped." : `No answer: ${error.message}`));
    } finally {
      start.disabled = false;
      stop.hidden = true;
    }
  });
}
