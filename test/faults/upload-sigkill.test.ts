import { type ClientRequest, request as httpRequest } from "node:http";
import { expect, it } from "vitest";
import { patternBytes } from "../../src/crypto/stream-test-support.ts";
import { withDatabaseOf } from "../support/database-of.ts";
import { changeRows, countRows } from "../support/engine-database.ts";
import { findDamage } from "../support/integrity-checks.ts";
import { makeOwner, type Owner } from "../support/owner.ts";
import { newDataDir } from "../support/processes.ts";
import { environmentOf, startObjectStore } from "../support/s3/object-store.ts";
import { startServer } from "../support/server.ts";

const mebibyte = 1024 ** 2;
const bytes = patternBytes(20 * mebibyte);

const headersOf = ({ cookie }: Owner) => ({ cookie, "tus-resumable": "1.0.0", "sec-fetch-site": "same-origin" });

async function offsetAt(baseUrl: string, path: string, owner: Owner): Promise<number> {
  const answer = await fetch(`${baseUrl}${path}`, { method: "HEAD", headers: headersOf(owner) });
  expect(answer.status).toBe(200);
  return Number(answer.headers.get("upload-offset"));
}

const partHeaders = (owner: Owner, offset: number) => ({
  ...headersOf(owner),
  "content-type": "application/offset+octet-stream",
  "upload-offset": String(offset),
});

const sendRest = (baseUrl: string, path: string, owner: Owner, offset: number) =>
  fetch(`${baseUrl}${path}`, {
    method: "PATCH",
    headers: partHeaders(owner, offset),
    body: new Uint8Array(bytes.subarray(offset)),
  });

/** Sends the first bytes of a part that never ends. */
function sendUnended(baseUrl: string, path: string, owner: Owner, length: number): ClientRequest {
  const headers = { ...partHeaders(owner, 0), "content-length": String(bytes.length) };
  const request = httpRequest(`${baseUrl}${path}`, { method: "PATCH", headers });
  request.on("error", () => undefined);
  request.write(bytes.subarray(0, length));
  return request;
}

it.each(["disk", "S3"])(
  "after SIGKILL an upload to %s continues at the acknowledged offset, and the push has the file",
  async (storage) => {
    const dataDir = newDataDir();
    const store = await startObjectStore();
    const server = { dataDir, environment: storage === "S3" ? environmentOf(store) : {} };
    const first = await startServer(server);
    const owner = await makeOwner(dataDir, first.baseUrl);
    const opened = await fetch(`${first.baseUrl}/uploads`, {
      method: "POST",
      headers: { ...headersOf(owner), "upload-length": String(bytes.length) },
    });
    expect(opened.status).toBe(201);
    const path = opened.headers.get("location") ?? "";
    const unended = sendUnended(first.baseUrl, path, owner, 19 * mebibyte);
    let acknowledged = 0;
    while (acknowledged === 0) acknowledged = await offsetAt(first.baseUrl, path, owner);
    const closed = new Promise((resolve) => unended.once("close", resolve));
    await first.kill();
    await closed;
    // The start may take long: 30 seconds from the last byte, and the minute that clocks may differ by.
    await withDatabaseOf(dataDir, (db) => changeRows(db, "UPDATE resumable_uploads SET run_until = run_until + 60000"));

    const second = await startServer(server);
    const offset = await offsetAt(second.baseUrl, path, owner);
    expect(offset).toBeGreaterThanOrEqual(acknowledged);
    expect(offset % 65_536).toBe(0);
    // The killed process might still be writing, for all that the new one knows.
    expect((await sendRest(second.baseUrl, path, owner, offset)).status).toBe(423);
    await second.stop();
    await withDatabaseOf(dataDir, (db) => changeRows(db, "UPDATE resumable_uploads SET run_until = 0"));

    const third = await startServer(server);
    const sent = await sendRest(third.baseUrl, path, owner, offset);
    expect([sent.status, sent.headers.get("upload-offset")]).toEqual([204, String(bytes.length)]);
    const form = new FormData();
    form.set("push[kind]", "file");
    form.set("push[retrieval_step]", "0");
    form.set("push[uploads][]", path.slice("/uploads/".length));
    const made = await fetch(`${third.baseUrl}/p`, {
      method: "POST",
      headers: { cookie: owner.cookie, "sec-fetch-site": "same-origin" },
      body: form,
      redirect: "manual",
    });
    expect(made.status).toBe(303);
    const urlToken = /\/p\/([^/?]+)/.exec(made.headers.get("location") ?? "")?.[1];
    const retrieved = await (await fetch(`${third.baseUrl}/api/v2/pushes/${urlToken}`)).json();
    const download = await fetch(`${third.baseUrl}${new URL(retrieved.files[0].url).pathname}`);
    expect(Buffer.from(await download.arrayBuffer()).equals(bytes)).toBe(true);
    await third.stop();
    await withDatabaseOf(dataDir, async (db) => expect(await countRows(db, "resumable_uploads")).toBe(0));
    expect(await findDamage(dataDir)).toEqual([]);
  },
);
