import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { endpoints, postJson } from "./endpoints.ts";

/** The pause of each connection after each response: what a backup must hold is retrieved again after its restore, one by one. */
const pauseMs = 20;

interface Tracked {
  readonly urlToken: string;
  readonly content: string;
  readonly isFile: boolean;
  readonly limit: number;
  /** Retrievals that were started, and those that returned the secret. */
  asked: number;
  delivered: number;
  deletion: "none" | "asked" | "done";
}

/** The known state of a push before and after a backup; the backup's state is between the two. */
export interface ObservedPush {
  readonly push: Tracked;
  readonly before: Pick<Tracked, "delivered" | "deletion">;
  readonly after: Pick<Tracked, "asked" | "deletion">;
}

/** Creates, retrieves and deletes pushes, some with a file, over several connections to several servers. */
export class BackupLoad {
  readonly #baseUrls: readonly string[];
  readonly #random: () => number;
  readonly #pushes: Tracked[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;
  #acts = 0;
  #heard: (() => void)[] = [];

  constructor(baseUrls: readonly string[], connections: number, random: () => number) {
    this.#baseUrls = baseUrls;
    this.#random = random;
    this.#running = Promise.all(Array.from({ length: connections }, () => this.#act()));
    // Checked when the load ends. A test that fails earlier must report its own error.
    this.#running.catch(() => undefined);
  }

  /** Resolves after this many further responses. */
  async answers(count: number): Promise<void> {
    const until = this.#acts + count;
    while (this.#acts < until && !this.#stop.signal.aborted) {
      await Promise.race([this.#running, new Promise<void>((heard) => this.#heard.push(heard))]);
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Runs `work`. @returns the state before and after it of every push that was acknowledged before. */
  async around(work: () => Promise<void>): Promise<readonly ObservedPush[]> {
    const before = this.#pushes.map((push) => ({ push, before: { ...push } }));
    await work();
    return before.map(({ push, before }) => ({ push, before, after: { ...push } }));
  }

  async #act(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const chance = this.#random();
      if (chance < 0.3 || this.#pushes.length === 0) await this.#create();
      else if (chance < 0.5) await this.#upload();
      else if (chance < 0.85) await this.#open();
      else await this.#delete();
      this.#acts += 1;
      for (const heard of this.#heard.splice(0)) heard();
      await pause(pauseMs);
    }
  }

  get #baseUrl(): string {
    return this.#baseUrls[Math.floor(this.#random() * this.#baseUrls.length)] ?? "";
  }

  get #any(): Tracked | undefined {
    return this.#pushes[Math.floor(this.#random() * this.#pushes.length)];
  }

  async #create(): Promise<void> {
    const limit = 1 + Math.floor(this.#random() * 3);
    const content = `kept-${crypto.randomUUID()}`;
    const push = { payload: content, expire_after_views: limit, deletable_by_viewer: true };
    await this.#remember(await postJson(`${this.#baseUrl}/api/v2/pushes`, { push }), content, limit, false);
  }

  async #upload(): Promise<void> {
    const content = `file-${crypto.randomUUID()}`.repeat(1_000);
    const form = new FormData();
    form.append("push[expire_after_views]", "3");
    form.append("push[deletable_by_viewer]", "true");
    form.append("push[files][]", new Blob([content]), "kept.txt");
    const answer = await fetch(`${this.#baseUrl}/api/v2/pushes`, { method: "POST", body: form });
    await this.#remember(answer, content, 3, true);
  }

  async #remember(answer: Response, content: string, limit: number, isFile: boolean): Promise<void> {
    const body = await answer.text();
    if (answer.status !== 201) throw new Error(`Creating was answered ${answer.status}: ${body}`);
    const { url_token: urlToken } = JSON.parse(body) as { url_token: string };
    this.#pushes.push({ urlToken, content, isFile, limit, asked: 0, delivered: 0, deletion: "none" });
  }

  async #open(): Promise<void> {
    const push = this.#any;
    if (push === undefined) return;
    push.asked += 1;
    if (await openAt(this.#baseUrl, push)) push.delivered += 1;
  }

  async #delete(): Promise<void> {
    const push = this.#any;
    if (push === undefined) return;
    if (push.deletion === "none") push.deletion = "asked";
    const answer = await fetch(`${this.#baseUrl}/api/v2/pushes/${push.urlToken}`, { method: "DELETE" });
    if (!answer.ok) throw new Error(`Deleting was answered ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
    push.deletion = "done";
  }
}

/** @returns whether the push was retrieved; checks that its payload or file is complete. */
async function openAt(baseUrl: string, push: Tracked): Promise<boolean> {
  const answer = await endpoints.apiV2(baseUrl, push.urlToken);
  const body = await answer.text();
  if (answer.status === 404) return false;
  if (answer.status !== 200) throw new Error(`A retrieval was answered ${answer.status}: ${body}`);
  const { payload, files } = JSON.parse(body) as { payload: string | null; files?: readonly { url: string }[] };
  if (!push.isFile) {
    if (payload === null) return false;
    expect(payload).toBe(push.content);
    return true;
  }
  const [file] = files ?? [];
  if (file === undefined) return false;
  const path = new URL(file.url).pathname;
  const download = await fetch(`${baseUrl}${path}`);
  const text = await download.text();
  // A concurrent deletion invalidates the download URL at once.
  if (download.status === 404 && push.deletion !== "none") return true;
  expect(text).toBe(push.content);
  return true;
}

/**
 * Retrieves the recorded pushes in a restored domain until they are gone, and checks that the number of views of each
 * is between its two recorded states. @returns the total number of views.
 */
export async function openRestored(baseUrl: string, observed: readonly ObservedPush[]): Promise<number> {
  let opened = 0;
  for (const { push, before, after } of observed) {
    const deletion = push.deletion;
    push.deletion = "none";
    let views = 0;
    while (await openAt(baseUrl, push)) views += 1;
    push.deletion = deletion;
    expect(views, "views that were spent before the backup").toBeLessThanOrEqual(push.limit - before.delivered);
    if (before.deletion === "done") expect(views, "a push deleted before the backup").toBe(0);
    const mayBeGone = after.deletion !== "none" && views === 0;
    if (!mayBeGone) expect(views).toBeGreaterThanOrEqual(push.limit - after.asked);
    opened += views;
  }
  return opened;
}
