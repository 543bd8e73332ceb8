import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { databaseFile, filesIn, integrityOf } from "../support/database-file.ts";
import { createPush, doors, everyDoor, type KnownPush, postJson, read } from "../support/doors.ts";
import { boundByPermissions, limitFileBytes } from "../support/limits.ts";
import { newDataDir, runProgram } from "../support/processes.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

const createAtOnce = 8;
const batchesMax = 200;
const payloadCharacters = 20_000;

/** The answer of a server that cannot take it now: 503, when to come back, and one sentence without details. */
async function expectUnavailable(answer: Response): Promise<void> {
  const body = await answer.text();
  expect(answer.status, body).toBe(503);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  const { error, ...more } = JSON.parse(body) as { error: string };
  expect(more).toEqual({});
  expect(error).toMatch(/^[A-Z][^\n]*\.$/);
  expect(error).not.toMatch(/sqlite|EFBIG|EACCES|\//i);
}

/** Creates several at once until the storage refuses; @returns what was acknowledged. */
async function fillUp(server: ServerProcess): Promise<readonly KnownPush[]> {
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

const pushOf = (payload: string) => ({ push: { payload, expire_after_views: 1 } });

function sendFile(server: ServerProcess, bytes: number): Promise<Response> {
  const form = new FormData();
  form.append("push[files][]", new Blob([new Uint8Array(bytes)]), "large.bin");
  return fetch(`${server.baseUrl}/api/v2/pushes`, { method: "POST", body: form });
}

async function expectEachOpensOnce(server: ServerProcess, pushes: readonly KnownPush[]): Promise<void> {
  for (const [at, push] of pushes.entries()) {
    const door = everyDoor[at % everyDoor.length] ?? doors.apiV2;
    expect(await read(door, server.baseUrl, push)).toBe("payload");
    expect(await read(door, server.baseUrl, push)).toBe("gone");
  }
}

const environment = { PWP__FILES__ALLOW_ANONYMOUS: "true" };

describe.runIf(process.platform === "linux")("a disk that is full", () => {
  it("refuses what is new with 503, loses nothing acknowledged, and is forgotten once there is room", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir, environment });
    const before = await createPush(server.baseUrl, { payload: "from before", expire_after_views: 2 });
    limitFileBytes(server.pid, 1_500_000);
    const acknowledged = await fillUp(server);
    expect(acknowledged.length).toBeGreaterThan(0);
    await expectUnavailable(await sendFile(server, 3_000_000));
    expect((await fetch(`${server.baseUrl}/up`)).status).toBe(200);

    limitFileBytes(server.pid, "unlimited");
    const after = await createPush(server.baseUrl, { payload: "from after", expire_after_views: 1 });
    const sent = await sendFile(server, 3_000_000);
    expect(sent.status, await sent.text()).toBe(201);
    await expectEachOpensOnce(server, [...acknowledged.slice(0, 5), after]);
    expect(await read(doors.apiV2, server.baseUrl, before)).toBe("payload");
    expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
    expect(integrityOf(dataDir)).toEqual(["ok"]);

    const restarted = await startServer({ dataDir, environment });
    await expectEachOpensOnce(restarted, acknowledged.slice(5));
    expect(await read(doors.step, restarted.baseUrl, before)).toBe("payload");
    expect(await read(doors.step, restarted.baseUrl, before)).toBe("gone");
    const unfinished = [...filesIn(dataDir).keys()].filter((path) => path.endsWith(".part"));
    expect(unfinished).toEqual([]);
  });

  it("to the last byte gives no secret away uncounted, and takes no view for a refusal", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir });
    const pushes = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        createPush(server.baseUrl, { payload: `kept ${at} ${crypto.randomUUID()}`, expire_after_views: 1 }),
      ),
    );
    // No file may grow any more, not even the log by one page.
    limitFileBytes(server.pid, statSync(`${databaseFile(dataDir)}-wal`).size);
    for (const [at, push] of pushes.entries()) {
      const door = everyDoor[at % everyDoor.length] ?? doors.apiV2;
      expect(await read(door, server.baseUrl, push)).toBe("unavailable");
    }
    limitFileBytes(server.pid, "unlimited");
    await expectEachOpensOnce(server, pushes);
    await server.stop();
    expect(integrityOf(dataDir)).toEqual(["ok"]);
  });

  it("and a SIGKILL together leave all that was acknowledged", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir });
    limitFileBytes(server.pid, 600_000);
    const acknowledged = await fillUp(server);
    await server.kill();
    const restarted = await startServer({ dataDir });
    await expectEachOpensOnce(restarted, acknowledged);
    await restarted.stop();
    expect(integrityOf(dataDir)).toEqual(["ok"]);
  });
});

describe("a folder for files that cannot be written", () => {
  it("refuses files with 503 while everything else goes on, and recovers", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir, environment, launcher: boundByPermissions });
    expect((await sendFile(server, 1_000)).status).toBe(201);
    const blobs = join(dataDir, "blobs");
    // Every one of the folders below it is closed too: the next file may go into any.
    const folders = [blobs, ...foldersIn(blobs)];
    for (const folder of folders) chmodSync(folder, 0o500);
    await expectUnavailable(await sendFile(server, 1_000));
    const push = await createPush(server.baseUrl, { payload: "text goes on", expire_after_views: 1 });
    await expectEachOpensOnce(server, [push]);
    for (const folder of folders) chmodSync(folder, 0o700);
    expect((await sendFile(server, 1_000)).status).toBe(201);
  });
});

describe("the reserve of free disk", () => {
  it("stops creation and not retrieval, deletion or the sign of life", async () => {
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

describe("the quota of anonymous pushes", () => {
  it("stops strangers and nobody else, and what has ended no longer counts", async () => {
    const dataDir = newDataDir();
    const settings = { PWP__ANONYMOUS_BYTES_MAX: "10000" };
    const server = await startServer({ dataDir, environment: settings });
    const payloads = ["a", "b"].map((letter) => letter.repeat(4_500));
    const pushes = [];
    for (const payload of payloads) pushes.push(await createPush(server.baseUrl, { payload, expire_after_views: 1 }));
    const create = (at: ServerProcess, headers = {}) =>
      postJson(`${at.baseUrl}/api/v2/pushes`, pushOf("c".repeat(4_500)), headers);
    await expectUnavailable(await create(server));
    const token = await makeToken(dataDir);
    const owned = await create(server, { authorization: `Bearer ${token}` });
    expect(owned.status, await owned.text()).toBe(201);
    await expectEachOpensOnce(server, pushes);
    await server.stop();
    // Measured anew at the latest when a server starts.
    const restarted = await startServer({ dataDir, environment: settings });
    const taken = await create(restarted);
    expect(taken.status, await taken.text()).toBe(201);
  });

  it("holds under a flood of creations at once", async () => {
    const server = await startServer({ dataDir: newDataDir(), environment: { PWP__ANONYMOUS_BYTES_MAX: "10000" } });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => postJson(`${server.baseUrl}/api/v2/pushes`, pushOf("d".repeat(1_000)))),
    );
    for (const answer of answers) if (answer.status !== 201) await expectUnavailable(answer);
    expect(answers.filter(({ status }) => status === 201).length).toBe(10);
  });
});

async function makeToken(dataDir: string): Promise<string> {
  const email = "ada@example.com";
  const user = ["user", "create", "--email", email, "--password-stdin"];
  expect(await runProgram(user, { DATA_DIR: dataDir }, "correct horse battery\n")).toMatchObject({ exitCode: 0 });
  const token = ["token", "create", "--email", email, "--name", "test"];
  return (await runProgram(token, { DATA_DIR: dataDir })).stdout.trim();
}

function foldersIn(folder: string): readonly string[] {
  return [...new Set([...filesIn(folder).keys()].map((path) => join(folder, path, "..")))];
}
