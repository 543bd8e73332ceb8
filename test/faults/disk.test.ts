import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createPush, postJson } from "../support/endpoints.ts";
import { boundByPermissions } from "../support/limits.ts";
import { makeToken } from "../support/owner.ts";
import { newDataDir } from "../support/processes.ts";
import { filesIn } from "../support/raw-files.ts";
import { expectEachOpensOnce, expectUnavailable, pushOf, sendFile } from "../support/refusals.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

const environment = { PWP__FILES__ALLOW_ANONYMOUS: "true" };

describe("a blob folder that is not writable", () => {
  it("refuses files with 503 while everything else works, and recovers", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir, environment, launcher: boundByPermissions });
    expect((await sendFile(server, 1_000)).status).toBe(201);
    const blobs = join(dataDir, "blobs");
    // The subfolders are not writable either: the next file may go into any of them.
    const folders = [blobs, ...foldersIn(blobs)];
    for (const folder of folders) chmodSync(folder, 0o500);
    await expectUnavailable(await sendFile(server, 1_000));
    const push = await createPush(server.baseUrl, { payload: "text still works", expire_after_views: 1 });
    await expectEachOpensOnce(server, [push]);
    for (const folder of folders) chmodSync(folder, 0o700);
    expect((await sendFile(server, 1_000)).status).toBe(201);
  });
});

describe("the reserve of free disk space", () => {
  it("stops creation, but not retrieval, deletion or the liveness check", async () => {
    const dataDir = newDataDir();
    const first = await startServer({ dataDir });
    const [opened, deleted] = [
      await createPush(first.baseUrl, { payload: "opened without room", expire_after_views: 1 }),
      await createPush(first.baseUrl, { payload: "deleted without room", expire_after_views: 1 }),
    ];
    await first.stop();

    const server = await startServer({
      dataDir,
      environment: { PWP__DISK__FREE_MIN_BYTES: "900TiB", ...environment },
    });
    await expectUnavailable(await postJson(`${server.baseUrl}/api/v2/pushes`, pushOf("too much")));
    await expectUnavailable(await sendFile(server, 1_000));
    const page = await fetch(`${server.baseUrl}/p`, {
      method: "POST",
      body: new URLSearchParams({ "push[payload]": "too much", kind: "text" }),
    });
    expect(page.status).toBe(503);
    expect(page.headers.get("content-type")).toContain("text/html");
    await page.body?.cancel();
    await expectEachOpensOnce(server, [opened]);
    const deletion = await fetch(`${server.baseUrl}/api/v2/pushes/${deleted.urlToken}`, { method: "DELETE" });
    expect(await deletion.json()).toMatchObject({ deleted: true });
    expect((await fetch(`${server.baseUrl}/up`)).status).toBe(200);
  });
});

describe("the reserve for signed-in people", () => {
  it("stops anonymous creation with 503, and nobody else", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir, environment: { PWP__DISK__RESERVE_BYTES: "900TiB", ...environment } });
    const create = (headers = {}) => postJson(`${server.baseUrl}/api/v2/pushes`, pushOf("of somebody"), headers);
    await expectUnavailable(await create());
    await expectUnavailable(await sendFile(server, 1_000));
    const token = await makeToken({ DATA_DIR: dataDir }, { email: "ada@example.com", admin: false });
    const owned = await create({ authorization: `Bearer ${token}` });
    expect(owned.status, await owned.text()).toBe(201);
  });
});

describe("the quota of anonymous pushes", () => {
  it("stops anonymous users only, and ended pushes no longer count", async () => {
    const dataDir = newDataDir();
    const settings = { PWP__ANONYMOUS_BYTES_MAX: "10000" };
    const server = await startServer({ dataDir, environment: settings });
    const payloads = ["a", "b"].map((letter) => letter.repeat(4_500));
    const pushes = [];
    for (const payload of payloads) pushes.push(await createPush(server.baseUrl, { payload, expire_after_views: 1 }));
    const create = (at: ServerProcess, headers = {}) =>
      postJson(`${at.baseUrl}/api/v2/pushes`, pushOf("c".repeat(4_500)), headers);
    await expectUnavailable(await create(server));
    const token = await makeToken({ DATA_DIR: dataDir }, { email: "ada@example.com", admin: false });
    const owned = await create(server, { authorization: `Bearer ${token}` });
    expect(owned.status, await owned.text()).toBe(201);
    await expectEachOpensOnce(server, pushes);
    await server.stop();
    // Measured again at the latest when a server starts.
    const restarted = await startServer({ dataDir, environment: settings });
    const taken = await create(restarted);
    expect(taken.status, await taken.text()).toBe(201);
  });

  it("holds under many concurrent creations", async () => {
    const server = await startServer({ dataDir: newDataDir(), environment: { PWP__ANONYMOUS_BYTES_MAX: "10000" } });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => postJson(`${server.baseUrl}/api/v2/pushes`, pushOf("d".repeat(1_000)))),
    );
    for (const answer of answers) if (answer.status !== 201) await expectUnavailable(answer);
    expect(answers.filter(({ status }) => status === 201).length).toBe(10);
  });
});

function foldersIn(folder: string): readonly string[] {
  return [...new Set([...filesIn(folder).keys()].map((path) => join(folder, path, "..")))];
}
