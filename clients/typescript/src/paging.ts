/** Reads lists page by page. */

import type { Client } from "openapi-fetch";
import type { paths } from "./schema.js";

type Get<Path extends keyof paths> = paths[Path] extends { get: infer Operation } ? Operation : never;
type Answer<Path extends keyof paths> =
  Get<Path> extends { responses: { 200: { content: { "application/json": infer Body } } } } ? Body : never;
type Query<Path extends keyof paths> =
  Get<Path> extends { parameters: { query?: infer Parameters } } ? NonNullable<Parameters> : never;

/** The paths of lists that have pages and no other parameter in their path. */
export type ListPath = {
  [Path in keyof paths]: Path extends `${string}{${string}`
    ? never
    : Query<Path> extends { page?: number; limit?: number }
      ? Answer<Path> extends { data: unknown[] }
        ? Path
        : never
      : never;
}[keyof paths];

export type ListQuery<Path extends ListPath> = Omit<Query<Path>, "page" | "limit">;
export type Items<Path extends ListPath> = Answer<Path> extends { data: (infer Item)[] } ? Item : never;

const LIMIT = 100;

interface Page {
  data?: { data: unknown[] };
  error?: { message?: string };
  response: Response;
}

export async function* iterate<Path extends ListPath>(
  client: Client<paths>,
  path: Path,
  query?: ListQuery<Path>,
): AsyncGenerator<Items<Path>> {
  // The types of one path are not those of all: which they are is said by the signature.
  const get = client.GET as unknown as (path: string, options: object) => Promise<Page>;
  for (let page = 1; ; page += 1) {
    const { data, error, response } = await get(path, { params: { query: { ...query, page, limit: LIMIT } } });
    if (data === undefined) throw new Error(`${response.status}: ${error?.message ?? response.statusText}`);
    yield* data.data as Items<Path>[];
    if (data.data.length < LIMIT) return;
  }
}
