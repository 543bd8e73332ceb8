import { expect } from "vitest";
import { allEndpoints, endpoints, type KnownPush, postJson, retrieve } from "./endpoints.ts";

/** What came of a request: done; refused for now, by a process that says when to ask again; or its connection broke. */
export type Fate = "done" | "refused" | "cut";

/** A server as its clients know it. */
export interface Target {
  readonly baseUrl: string;
  /** Whether a connection that breaks now is no fault. */
  readonly mayBreak: boolean;
}

interface Tracked extends KnownPush {
  /** Answers that came whole, with the secret in them. */
  delivered: number;
  /** Retrievals that brought nothing and may have counted all the same. */
  unknown: number;
}

const judgedAtOnceMax = 50;

/** What clients were told of pushes: the servers must neither fall behind it nor ever go beyond a limit. */
export class PushLedger {
  readonly #pushes: Tracked[] = [];
  readonly #random: () => number;
  /** Retrievals whose views were counted and whose answers nobody got. */
  #viewsWithoutAnswer = 0;
  #judged = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Creates a push or opens one, by chance, through any endpoint. @throws on an answer that nobody may get. */
  async ask(target: Target): Promise<Fate> {
    return this.#random() < 0.5 || this.#pushes.length === 0 ? await this.#create(target) : await this.#open(target);
  }

  async #create(target: Target): Promise<Fate> {
    const push = { payload: `kept-${crypto.randomUUID()}`, expire_after_views: 1 + Math.floor(this.#random() * 3) };
    const answer = await unlessCut(target, async () => {
      const response = await postJson(`${target.baseUrl}/api/v2/pushes`, { push });
      return { response, body: await response.text() };
    });
    if (answer === "cut") return "cut";
    const { response, body } = answer;
    if (response.status === 503 && response.headers.has("retry-after")) return "refused";
    if (response.status !== 201) throw new Error(`Creating was answered ${response.status}: ${body}`);
    const { url_token: urlToken } = JSON.parse(body) as { url_token: string };
    const { payload, expire_after_views: views } = push;
    this.#pushes.push({ urlToken, payload, views, delivered: 0, unknown: 0 });
    return "done";
  }

  async #open(target: Target): Promise<Fate> {
    const push = this.#pushes[Math.floor(this.#random() * this.#pushes.length)];
    const endpoint = allEndpoints[Math.floor(this.#random() * allEndpoints.length)] ?? endpoints.apiV2;
    if (push === undefined) throw new Error("There is no push yet.");
    const result = await unlessCut(target, () => retrieve(endpoint, target.baseUrl, push));
    if (result === "payload") push.delivered += 1;
    // One that is gone may have its last answer under way elsewhere: it is judged when all is quiet.
    if (result === "payload" || result === "gone") return "done";
    push.unknown += 1;
    return result === "cut" ? "cut" : "refused";
  }

  /**
   * When nobody else asks: opens pushes until they are gone and expects that exactly what was left comes out.
   * @param share of the pushes, the oldest first; the others live on.
   */
  async judge(baseUrl: string, share = 1): Promise<void> {
    const pushes = this.#pushes.splice(0, Math.floor(this.#pushes.length * share));
    for (let at = 0; at < pushes.length; at += judgedAtOnceMax) {
      await Promise.all(pushes.slice(at, at + judgedAtOnceMax).map((push) => this.#openToTheEnd(baseUrl, push)));
    }
    this.#judged += pushes.length;
  }

  async #openToTheEnd(baseUrl: string, push: Tracked): Promise<void> {
    while ((await retrieve(endpoints.apiV2, baseUrl, push)) === "payload") {
      push.delivered += 1;
      if (push.delivered > push.views) break;
    }
    expect(push.delivered, "opened beyond its limit").toBeLessThanOrEqual(push.views);
    expect(push.delivered + push.unknown, "lost views or a lost push").toBeGreaterThanOrEqual(push.views);
    this.#viewsWithoutAnswer += push.views - push.delivered;
  }

  get summary(): string {
    return (
      `${this.#judged} acknowledged pushes: none lost, none read twice; ` +
      `${this.#viewsWithoutAnswer} views counted for requests that broke off or were told to ask again`
    );
  }
}

async function unlessCut<T>(target: Target, request: () => Promise<T>): Promise<T | "cut"> {
  const mightBreakAtFirst = target.mayBreak;
  try {
    return await request();
  } catch (error) {
    if ((mightBreakAtFirst || target.mayBreak) && error instanceof TypeError) return "cut";
    throw error;
  }
}
