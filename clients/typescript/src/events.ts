/** The stream of events, resumed after its last one. */

import type { EventChoice } from "./index.js";
import { backoffMs, pause } from "./retries.js";
import type { webhooks } from "./schema.js";

export type EventKind = keyof webhooks;
type Payload<Kind extends EventKind> = webhooks[Kind] extends {
  post: { requestBody?: { content: { "application/json": infer Body } } };
}
  ? Body
  : never;

/** An event; the type of its payload follows from its kind. */
export type TocsinEvent = { [Kind in EventKind]: { id: string; kind: Kind; payload: Payload<Kind> } }[EventKind];

/** The service refuses for good. */
export class TocsinError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(`${status}: ${message}`);
    this.name = "TocsinError";
  }
}

// The service writes at least a comment each 15 s.
const SILENCE_MS = 45_000;

export async function* follow(
  send: typeof fetch,
  baseUrl: string,
  headers: Record<string, string>,
  choice: EventChoice,
): AsyncGenerator<TocsinEvent> {
  const query = new URLSearchParams();
  if (choice.kinds?.length) query.set("kind", choice.kinds.join(","));
  if (choice.monitorIds?.length) query.set("monitor_id", choice.monitorIds.join(","));
  let lastId = choice.after;
  for (let failed = 0; !choice.signal?.aborted; ) {
    const silence = new AbortController();
    const end = () => silence.abort();
    choice.signal?.addEventListener("abort", end);
    let timer = setTimeout(end, SILENCE_MS);
    try {
      const response = await send(`${baseUrl}/v1/events?${query}`, {
        headers: { ...headers, Accept: "text/event-stream", ...(lastId ? { "Last-Event-ID": lastId } : {}) },
        redirect: "manual",
        signal: silence.signal,
      });
      await refuse(response);
      for await (const read of frames(response)) {
        clearTimeout(timer);
        timer = setTimeout(end, SILENCE_MS);
        // What came with the last event, too, is not wanted any more.
        if (choice.signal?.aborted) return;
        failed = 0;
        lastId = read.id || lastId;
        if (read.kind && lastId) yield { id: lastId, kind: read.kind, payload: read.payload } as TocsinEvent;
      }
    } catch (error) {
      if (error instanceof TocsinError) throw error;
    } finally {
      clearTimeout(timer);
      choice.signal?.removeEventListener("abort", end);
      silence.abort();
    }
    failed += 1;
    if (!choice.signal?.aborted) await pause(backoffMs(failed));
  }
}

async function refuse(response: Response): Promise<void> {
  if (response.ok || response.status === 429 || response.status === 503) return;
  const text = await response.text();
  let message = response.statusText;
  try {
    message = String((JSON.parse(text) as { message?: unknown }).message ?? message);
  } catch {
    // Not the service's own answer: its status has to do.
  }
  throw new TocsinError(response.status, message);
}

interface Frame {
  id: string;
  kind: string;
  payload: unknown;
}

async function* frames(response: Response): AsyncGenerator<Frame> {
  if (!response.ok || response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (waiting + value).split("\n\n");
    waiting = parts.pop() ?? "";
    for (const part of parts) yield frame(part);
  }
}

function frame(text: string): Frame {
  const read: Frame = { id: "", kind: "", payload: {} };
  let data = "";
  for (const line of text.split("\n")) {
    const at = line.indexOf(":");
    const value = line.slice(at + 1).replace(/^ /, "");
    if (line.startsWith("id:")) read.id = value;
    else if (line.startsWith("event:")) read.kind = value;
    else if (line.startsWith("data:")) data += value;
  }
  try {
    read.payload = data ? JSON.parse(data) : {};
  } catch {
    read.kind = "";
  }
  return read;
}
