import { once } from "node:events";
import { existsSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { expect } from "vitest";
import { databaseFile } from "./database-file.ts";
import { withDatabaseOf } from "./database-of.ts";
import { countEveryone, openTestDomain, stranger, TestClock } from "./domain.ts";
import { engine } from "./engine.ts";
import { countRows } from "./engine-database.ts";
import { findDamage } from "./integrity-checks.ts";
import type { ServerProcess } from "./server.ts";

const payload = "sent in two halves";
const body = JSON.stringify({ push: { payload, expire_after_views: 1 } });

/** A request whose headers the server has read; it waits for the body. */
export async function beginCreation(server: ServerProcess): Promise<ClientRequest> {
  const creation = request(`${server.baseUrl}/api/v2/pushes`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": body.length, expect: "100-continue" },
  });
  creation.flushHeaders();
  // The server sends "100 Continue" when it has started to handle the request.
  await once(creation, "continue");
  creation.write(body.slice(0, 20));
  return creation;
}

export async function finishCreation(creation: ClientRequest) {
  creation.end(body.slice(20));
  const [answer] = (await once(creation, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of answer) text += String(chunk);
  expect(answer.statusCode, text).toBe(201);
  const { url_token: urlToken } = JSON.parse(text) as { url_token: string };
  return { urlToken, payload, views: 1 };
}

/** Expects that the database was closed: its log was merged and deleted, or no connection is left. */
export async function expectClosed(dataDir: string): Promise<void> {
  if (engine === "sqlite") {
    for (const ending of ["-wal", "-shm"]) expect(existsSync(`${databaseFile(dataDir)}${ending}`)).toBe(false);
  } else {
    const others = "datname = current_database() AND pid <> pg_backend_pid()";
    await withDatabaseOf(dataDir, (db) => expect.poll(() => countRows(db, "pg_stat_activity", others)).toBe(0));
  }
  expect(await findDamage(dataDir)).toEqual([]);
}

export async function expectOpensOnce(
  dataDir: string,
  push: Awaited<ReturnType<typeof finishCreation>>,
): Promise<void> {
  await using fixture = await openTestDomain({ dataDir, clock: new TestClock(Date.now()) });
  const claim = () => fixture.domain.pushes.claimView(push.urlToken, countEveryone, stranger);
  expect(await claim()).toMatchObject({ outcome: "revealed", payload: push.payload });
  expect(await claim()).toMatchObject({ outcome: "gone" });
}
