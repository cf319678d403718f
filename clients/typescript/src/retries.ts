/** Repeats requests while the service is busy or away. */

const BUSY = new Set([429, 503]);
const SAFE = new Set(["GET", "HEAD", "OPTIONS", "PUT", "PATCH"]);
const LONGEST_MS = 30_000;

/** Returns a fetch that sends a request up to `tries` times; each POST gets a key, by which it has its effect once. */
export function retrying(send: typeof fetch, tries: number): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method === "POST" && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", crypto.randomUUID());
    }
    const repeatable = SAFE.has(request.method) || request.headers.has("Idempotency-Key");
    for (let number = 1; number < tries; number += 1) {
      try {
        const response = await send(request.clone());
        if (!BUSY.has(response.status)) return response;
        await response.body?.cancel();
        await pause(waitMs(response, number));
      } catch (error) {
        if (!repeatable || request.signal.aborted) throw error;
        await pause(backoffMs(number));
      }
    }
    return send(request);
  };
}

export function backoffMs(number: number): number {
  return Math.min(1000 * 2 ** (number - 1), LONGEST_MS);
}

export function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

function waitMs(response: Response, number: number): number {
  const text = response.headers.get("Retry-After") ?? "";
  return /^\d+$/.test(text) ? Math.min(1000 * Number(text), LONGEST_MS) : backoffMs(number);
}
