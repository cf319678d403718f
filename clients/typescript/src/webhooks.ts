/** The signature of a webhook, by the platform's own cryptography. */

const encoder = new TextEncoder();

/**
 * Returns whether Tocsin sent the body, and within the last `toleranceS` seconds.
 * `headers` have names in lower case; `body` is as received, before any JSON is parsed.
 */
export async function isGenuine(
  secret: string,
  headers: Readonly<Record<string, string | undefined>>,
  body: string | Uint8Array,
  toleranceS = 300,
): Promise<boolean> {
  const sentAt = headers["webhook-timestamp"] ?? "";
  if (!/^\d+$/.test(sentAt) || Math.abs(Date.now() / 1000 - Number(sentAt)) > toleranceS) return false;
  const bytes = secret.startsWith("whsec_") ? base64(secret.slice(6)) : encoder.encode(secret);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes as BufferSource, algorithm, false, ["verify"]);
  const head = encoder.encode(`${headers["webhook-id"] ?? ""}.${sentAt}.`);
  const content = typeof body === "string" ? encoder.encode(body) : body;
  const signed = new Uint8Array(head.length + content.length);
  signed.set(head);
  signed.set(content, head.length);
  for (const text of (headers["webhook-signature"] ?? "").split(" ")) {
    if (!text.startsWith("v1,")) continue;
    const signature = base64(text.slice(3));
    if (await crypto.subtle.verify("HMAC", key, signature as BufferSource, signed)) return true;
  }
  return false;
}

function base64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
