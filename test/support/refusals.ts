import { expect } from "vitest";
import { allEndpoints, endpoints, type KnownPush, postJson, retrieve } from "./endpoints.ts";
import type { ServerProcess } from "./server.ts";

const createAtOnce = 8;
const batchesMax = 200;
const payloadCharacters = 20_000;

/** Expects the response of a server that cannot serve now: 503, Retry-After, and one sentence without details. */
export async function expectUnavailable(answer: Response): Promise<void> {
  const body = await answer.text();
  expect(answer.status, body).toBe(503);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  const { error, ...more } = JSON.parse(body) as { error: string };
  expect(more).toEqual({});
  expect(error).toMatch(/^[A-Z][^\n]*\.$/);
  expect(error).not.toMatch(/sqlite|postgres|EFBIG|EACCES|\//i);
}

/** Creates several pushes at once until the storage refuses. @returns the acknowledged ones. */
export async function fillUp(server: ServerProcess): Promise<readonly KnownPush[]> {
  const acknowledged: KnownPush[] = [];
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const answers = await Promise.all(
      Array.from({ length: createAtOnce }, async () => {
        const payload = crypto.randomUUID().padEnd(payloadCharacters, "-full");
        return { payload, answer: await postJson(`${server.baseUrl}/api/v2/pushes`, pushOf(payload)) };
      }),
    );
    let full = false;
    for (const { payload, answer } of answers) {
      if (answer.status === 201) {
        const { url_token: urlToken } = (await answer.json()) as { url_token: string };
        acknowledged.push({ urlToken, payload, views: 1 });
      } else {
        full = true;
        await expectUnavailable(answer);
      }
    }
    if (full) return acknowledged;
  }
  throw new Error("The storage never got full.");
}

export const pushOf = (payload: string) => ({ push: { payload, expire_after_views: 1 } });

export function sendFile(server: ServerProcess, bytes: number): Promise<Response> {
  const form = new FormData();
  form.append("push[files][]", new Blob([new Uint8Array(bytes)]), "large.bin");
  return fetch(`${server.baseUrl}/api/v2/pushes`, { method: "POST", body: form });
}

export async function expectEachOpensOnce(server: ServerProcess, pushes: readonly KnownPush[]): Promise<void> {
  for (const [at, push] of pushes.entries()) {
    const endpoint = allEndpoints[at % allEndpoints.length] ?? endpoints.apiV2;
    expect(await retrieve(endpoint, server.baseUrl, push)).toBe("payload");
    expect(await retrieve(endpoint, server.baseUrl, push)).toBe("gone");
  }
}
