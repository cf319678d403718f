/** Client of the Tocsin API: typed requests, retries, paging, the stream of events, signatures of webhooks. */

import createClient, { type Client } from "openapi-fetch";
import { follow, type EventKind, type TocsinEvent } from "./events.js";
import { iterate, type Items, type ListPath, type ListQuery } from "./paging.js";
import { retrying } from "./retries.js";
import type { paths } from "./schema.js";

export type { components, paths, webhooks } from "./schema.js";
export { TocsinError, type EventKind, type TocsinEvent } from "./events.js";
export { isGenuine } from "./webhooks.js";

export interface Options {
  /** Address of the service, with or without /v1. */
  url: string;
  /** An API token. */
  token: string;
  /** How often a request is sent while the service is busy or away; 4 by default. */
  tries?: number;
  /** Another fetch than the platform's. */
  fetch?: typeof fetch;
}

export interface EventChoice {
  kinds?: readonly EventKind[];
  monitorIds?: readonly string[];
  /** Id of an event: begin with those since. */
  after?: string;
  /** Ends the stream. */
  signal?: AbortSignal;
}

export interface Tocsin extends Client<paths> {
  /** Reads a list to its end, page by page. */
  iterate<Path extends ListPath>(path: Path, query?: ListQuery<Path>): AsyncGenerator<Items<Path>>;
  /** Yields events as they happen, until the signal ends it; a broken stream is resumed after its last event. */
  events(choice?: EventChoice): AsyncGenerator<TocsinEvent>;
}

export function createTocsin(options: Options): Tocsin {
  const baseUrl = options.url.replace(/\/+$/, "").replace(/\/v1$/, "");
  const send = options.fetch ?? globalThis.fetch;
  const headers = { Authorization: `Bearer ${options.token}` };
  const client = createClient<paths>({
    baseUrl,
    headers,
    // A redirect would carry the token to another host.
    redirect: "manual",
    fetch: retrying(send, options.tries ?? 4),
  });
  return {
    ...client,
    iterate: (path, query) => iterate(client, path, query),
    events: (choice = {}) => follow(send, baseUrl, headers, choice),
  };
}
