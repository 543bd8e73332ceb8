import { expect, test } from "vitest";
import { makePostgresDatabase } from "../../../test/support/postgres/database.ts";
import { postgresSettings } from "../../../test/support/postgres/settings.ts";
import { TcpProxy } from "../../../test/support/tcp-proxy.ts";
import { awaitServer } from "./server-start.ts";

const nobody = "postgres://somebody:a-password-of-tests@127.0.0.1:1/anything";

/** Waits with a fake clock. @returns the sentences reported, and how long it waited. */
async function wait(
  url: string,
  onPause: (waitedMs: number) => void = () => undefined,
  abandoned: AbortSignal | undefined = undefined,
) {
  const sentences: string[] = [];
  let waitedMs = 0;
  await awaitServer(postgresSettings(url), {
    abandoned,
    monotonicMs: () => waitedMs,
    async pause(ms) {
      waitedMs += ms;
      onPause(waitedMs);
    },
    onWaiting: (sentence) => sentences.push(sentence),
  });
  return { sentences, waitedMs };
}

test("an available server is not waited for", async () => {
  const { url } = await makePostgresDatabase();
  expect(await wait(url)).toEqual({ sentences: [], waitedMs: 0 });
});

test("an unavailable server is waited for for half a minute and reported once", async () => {
  const sentences = ["The PostgreSQL server at 127.0.0.1:1 does not answer (connection refused): check DATABASE_URL."];
  expect(await wait(nobody)).toEqual({ sentences, waitedMs: 30_000 });
});

test("the wait ends when the server becomes available", async () => {
  const { url } = await makePostgresDatabase();
  await using proxy = await TcpProxy.inFrontOf({ port: Number(new URL(url).port) });
  proxy.cut();
  const { sentences, waitedMs } = await wait(proxy.url(url), (ms) => {
    if (ms >= 5_000) proxy.heal();
  });
  expect(sentences).toHaveLength(1);
  expect(waitedMs).toBe(5_000);
});

test("a server that refuses the connection is not waited for, since waiting does not help", async () => {
  const { url } = await makePostgresDatabase();
  const unknown = new URL(url);
  unknown.pathname = "/nowhere";
  expect(await wait(unknown.href)).toEqual({ sentences: [], waitedMs: 0 });
});

test("a stop request ends the wait", async () => {
  const stop = new AbortController();
  let waited = 0;
  const waiting = wait(
    nobody,
    (ms) => {
      waited = ms;
      if (ms === 5_000) stop.abort(new Error("stopped"));
    },
    stop.signal,
  );
  await expect(waiting).rejects.toThrow("stopped");
  expect(waited).toBe(5_000);
});
