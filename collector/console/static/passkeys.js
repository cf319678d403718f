// Passkeys: a form with data-passkey asks this device's authenticator before it is sent, and carries its answer.

const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));

function encoded(buffer) {
  const text = String.fromCharCode(...new Uint8Array(buffer ?? []));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// Its message names the text of the fault that the form shows.
class Refused extends Error {}

async function question(form) {
  const body = new URLSearchParams();
  for (const name of ["csrf", "ticket"]) if (form.elements[name]) body.set(name, form.elements[name].value);
  const answer = await fetch(form.dataset.passkey, { method: "POST", body });
  if (answer.status === 429) throw new Refused("busy");
  if (!answer.ok) throw new Refused("refused");
  return answer.json();
}

const credentials = (asked) => asked.known.map((id) => ({ type: "public-key", id: bytes(id) }));

async function created(asked) {
  const credential = await navigator.credentials.create({
    publicKey: {
      challenge: bytes(asked.challenge),
      rp: { id: asked.site, name: "Tocsin" },
      user: { id: bytes(asked.handle), name: asked.email, displayName: asked.name },
      pubKeyCredParams: asked.algorithms.map((alg) => ({ type: "public-key", alg })),
      excludeCredentials: credentials(asked),
      authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
      attestation: "none",
      timeout: asked.patience,
    },
  });
  const response = credential.response;
  const key = response.getPublicKey?.();
  if (!key) throw new Refused("unsupported");
  return {
    credential: encoded(credential.rawId),
    client: encoded(response.clientDataJSON),
    authenticator: encoded(response.getAuthenticatorData()),
    key: encoded(key),
  };
}

async function asserted(asked) {
  const credential = await navigator.credentials.get({
    publicKey: {
      challenge: bytes(asked.challenge),
      rpId: asked.site,
      allowCredentials: credentials(asked),
      userVerification: asked.known.length ? "preferred" : "required",
      timeout: asked.patience,
    },
  });
  const response = credential.response;
  return {
    credential: encoded(credential.rawId),
    client: encoded(response.clientDataJSON),
    authenticator: encoded(response.authenticatorData),
    signature: encoded(response.signature),
    handle: encoded(response.userHandle),
  };
}

const FAULTS = { NotAllowedError: "cancelled", AbortError: "cancelled", InvalidStateError: "known", SecurityError: "elsewhere" };

function show(form, fault) {
  const element = form.querySelector("[data-passkey-fault]");
  element.textContent = element.dataset[fault] ?? "";
  element.hidden = !fault;
}

async function ask(form) {
  const buttons = form.querySelectorAll("button");
  show(form, "");
  for (const button of buttons) button.disabled = true;
  try {
    const asked = await question(form);
    const answers = "newPasskey" in form.dataset ? await created(asked) : await asserted(asked);
    for (const [name, value] of Object.entries(answers)) form.elements[name].value = value;
    form.submit();
  } catch (error) {
    show(form, error instanceof Refused ? error.message : FAULTS[error.name] ?? "refused");
    for (const button of buttons) button.disabled = false;
  }
}

if (window.PublicKeyCredential) {
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", (event) => { event.preventDefault(); ask(form); });
  }
  for (const element of document.querySelectorAll("[data-no-passkeys]")) element.remove();
}
