import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { allEndpoints, createPush, endpoints, type KnownPush, retrieve } from "../support/endpoints.ts";
import { findDamage } from "../support/integrity-checks.ts";
import { newDataDir } from "../support/processes.ts";
import { roundsOf } from "../support/rounds.ts";
import { seededNumbers } from "../support/seeded-numbers.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

const rounds = roundsOf(10);
const connections = 12;
const verifiedAtOnceMax = 50;

/** What clients know about a push: the server must lose nothing that was acknowledged, and must not exceed the limit. */
interface Tracked extends KnownPush {
  /** Complete answers with the secret. */
  delivered: number;
  /** Retrievals whose answer was cut off: each may have counted or not. */
  cut: number;
}

class Load {
  readonly pushes: Tracked[] = [];
  readonly #random: () => number;
  #answers = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Creates and opens pushes over several connections until `answersMax` answers arrived, then kills the server. */
  async runUntilKilled(server: ServerProcess, answersMax: number): Promise<void> {
    this.#answers = 0;
    const killed = new AbortController();
    const connection = async () => {
      while (!killed.signal.aborted) {
        await (this.#random() < 0.5 ? this.#create(server, killed.signal) : this.#open(server, killed.signal));
        this.#answers += 1;
        if (this.#answers === answersMax) {
          killed.abort();
          await server.kill();
        }
      }
    };
    await Promise.all(Array.from({ length: connections }, connection));
  }

  async #create(server: ServerProcess, killed: AbortSignal): Promise<void> {
    const views = 1 + Math.floor(this.#random() * 3);
    const wish = { payload: `kept-${crypto.randomUUID()}`, expire_after_views: views };
    const known = await unlessCut(createPush(server.baseUrl, wish), killed);
    if (known !== "cut") this.pushes.push({ ...known, delivered: 0, cut: 0 });
  }

  async #open(server: ServerProcess, killed: AbortSignal): Promise<void> {
    const push = this.pushes[Math.floor(this.#random() * this.pushes.length)];
    const endpoint = allEndpoints[Math.floor(this.#random() * allEndpoints.length)] ?? endpoints.apiV2;
    if (push === undefined) return;
    const result = await unlessCut(retrieve(endpoint, server.baseUrl, push), killed);
    if (result === "cut") push.cut += 1;
    if (result === "payload") push.delivered += 1;
    // A parallel retrieval may be the last one and still be under way, so "gone" is checked after the restart.
  }
}

/** A connection may break only because of the kill. */
async function unlessCut<T>(request: Promise<T>, killed: AbortSignal): Promise<T | "cut"> {
  try {
    return await request;
  } catch (error) {
    if (killed.aborted && error instanceof TypeError) return "cut";
    throw error;
  }
}

/** Opens a push until it is gone: exactly the remaining views must be delivered. */
async function openToTheEnd(baseUrl: string, push: Tracked): Promise<void> {
  while ((await retrieve(endpoints.apiV2, baseUrl, push)) === "payload") {
    push.delivered += 1;
    if (push.delivered > push.views) break;
  }
  expect(push.delivered, "opened more often than allowed").toBeLessThanOrEqual(push.views);
  expect(push.delivered + push.cut, "lost views or a lost push").toBeGreaterThanOrEqual(push.views);
}

async function openAllToTheEnd(baseUrl: string, pushes: readonly Tracked[]): Promise<void> {
  for (let at = 0; at < pushes.length; at += verifiedAtOnceMax) {
    await Promise.all(pushes.slice(at, at + verifiedAtOnceMax).map((push) => openToTheEnd(baseUrl, push)));
  }
}

async function upload(baseUrl: string, content: Buffer): Promise<string> {
  const form = new FormData();
  form.append("push[files][]", new Blob([new Uint8Array(content)]), "kept.bin");
  const answer = await fetch(`${baseUrl}/api/v2/pushes`, { method: "POST", body: form });
  const body = await answer.text();
  expect(answer.status, body).toBe(201);
  return (JSON.parse(body) as { url_token: string }).url_token;
}

async function download(baseUrl: string, urlToken: string): Promise<Buffer> {
  const opened = await fetch(`${baseUrl}/api/v2/pushes/${urlToken}`);
  const { files } = (await opened.json()) as { files: readonly { url: string }[] };
  const [file] = files;
  if (file === undefined) throw new Error("The push has no file.");
  const answer = await fetch(file.url);
  return Buffer.from(await answer.arrayBuffer());
}

describe("SIGKILL under load", { timeout: 300_000 }, () => {
  it("loses no acknowledged push and exceeds no view limit, 10 times in a row", async () => {
    const random = seededNumbers(0x5ea1);
    const dataDir = newDataDir();
    const load = new Load(random);
    let verified = 0;
    const verify = async (server: ServerProcess, pushes: readonly Tracked[]) => {
      await openAllToTheEnd(server.baseUrl, pushes);
      verified += pushes.length;
    };
    for (let round = 0; round < rounds; round += 1) {
      const server = await startServer({ dataDir });
      // Most pushes are kept, so that they survive several kills.
      await verify(server, load.pushes.splice(0, Math.floor(load.pushes.length / 3)));
      await load.runUntilKilled(server, 50 + Math.floor(random() * 250));
    }
    const last = await startServer({ dataDir });
    await verify(last, load.pushes);
    expect(await last.stop()).toEqual({ exitCode: 0, signal: null });
    expect(await findDamage(dataDir)).toEqual([]);
    console.log(`${verified} acknowledged pushes kept over ${rounds} kills`);
  });

  it("keeps every acknowledged file complete", async () => {
    const dataDir = newDataDir();
    const environment = { PWP__FILES__ALLOW_ANONYMOUS: "true" };
    const server = await startServer({ dataDir, environment });
    const kept: { readonly urlToken: string; readonly content: Buffer }[] = [];
    const killed = new AbortController();
    const uploads = Array.from({ length: 6 }, async () => {
      while (!killed.signal.aborted) {
        const content = randomBytes(300_000);
        const urlToken = await unlessCut(upload(server.baseUrl, content), killed.signal);
        if (urlToken !== "cut") kept.push({ urlToken, content });
        if (kept.length < 20 || killed.signal.aborted) continue;
        killed.abort();
        await server.kill();
      }
    });
    await Promise.all(uploads);
    const restarted = await startServer({ dataDir, environment });
    for (const { urlToken, content } of kept) {
      expect(content.equals(await download(restarted.baseUrl, urlToken))).toBe(true);
    }
  });

  it("of one of two processes does not affect clients of the other", async () => {
    const dataDir = newDataDir();
    const [doomed, other] = [await startServer({ dataDir }), await startServer({ dataDir })];
    const load = new Load(seededNumbers(7));
    await load.runUntilKilled(doomed, 200);
    await openAllToTheEnd(other.baseUrl, load.pushes);
    const known = await createPush(other.baseUrl, { payload: "after the kill", expire_after_views: 1 });
    expect(await retrieve(endpoints.step, other.baseUrl, known)).toBe("payload");
    expect(await other.stop()).toEqual({ exitCode: 0, signal: null });
    expect(await findDamage(dataDir)).toEqual([]);
  });
});
