import { createHmac, timingSafeEqual } from "node:crypto";

// Returns whether Tocsin sent the body, and within the last `toleranceS` seconds.
// `headers` have names in lower case; `body` is a Buffer of the bytes as received.
export function isGenuine(secret, headers, body, toleranceS = 300) {
  const sentAt = headers["webhook-timestamp"] ?? "";
  if (!/^\d+$/.test(sentAt) || Math.abs(Date.now() / 1000 - Number(sentAt)) > toleranceS) return false;
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret);
  const hmac = createHmac("sha256", key).update(`${headers["webhook-id"] ?? ""}.${sentAt}.`).update(body);
  const expected = Buffer.from("v1," + hmac.digest("base64"));
  return (headers["webhook-signature"] ?? "").split(" ").some((text) => {
    const signature = Buffer.from(text);
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
}
