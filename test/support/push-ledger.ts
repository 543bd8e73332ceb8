import { expect } from "vitest";
import { allEndpoints, asksToRepeat, endpoints, type KnownPush, postJson, retrieve } from "./endpoints.ts";

/** The result of a request: done; to be sent again later; or the connection broke. */
export type RequestResult = "done" | "refused" | "cut";

/** A server as its clients see it. */
export interface Target {
  readonly baseUrl: string;
  /** Whether broken connections are expected now. */
  readonly mayBreak: boolean;
}

interface Tracked extends KnownPush {
  /** Complete responses with the secret. */
  delivered: number;
  /** Retrievals without a response that may have counted a view. */
  unknown: number;
}

const verifiedAtOnceMax = 50;

/** The responses that clients got: servers must not lose anything acknowledged, and must not exceed a limit. */
export class PushLedger {
  readonly #pushes: Tracked[] = [];
  readonly #random: () => number;
  /** Retrievals that were counted, but whose responses were lost. */
  #viewsWithoutAnswer = 0;
  #verified = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Creates or retrieves a push at random through any endpoint. @throws on an invalid response. */
  async ask(target: Target): Promise<RequestResult> {
    return this.#random() < 0.5 || this.#pushes.length === 0 ? await this.#create(target) : await this.#open(target);
  }

  async #create(target: Target): Promise<RequestResult> {
    const push = { payload: `kept-${crypto.randomUUID()}`, expire_after_views: 1 + Math.floor(this.#random() * 3) };
    const answer = await unlessCut(target, async () => {
      const response = await postJson(`${target.baseUrl}/api/v2/pushes`, { push });
      return { response, body: await response.text() };
    });
    if (answer === "cut") return "cut";
    const { response, body } = answer;
    if (asksToRepeat(response)) return "refused";
    if (response.status !== 201) throw new Error(`Creating was answered ${response.status}: ${body}`);
    const { url_token: urlToken } = JSON.parse(body) as { url_token: string };
    const { payload, expire_after_views: views } = push;
    this.#pushes.push({ urlToken, payload, views, delivered: 0, unknown: 0 });
    return "done";
  }

  async #open(target: Target): Promise<RequestResult> {
    const push = this.#pushes[Math.floor(this.#random() * this.#pushes.length)];
    const endpoint = allEndpoints[Math.floor(this.#random() * allEndpoints.length)] ?? endpoints.apiV2;
    if (push === undefined) throw new Error("There is no push yet.");
    const result = await unlessCut(target, () => retrieve(endpoint, target.baseUrl, push));
    if (result === "payload") push.delivered += 1;
    // The last response of a push that is gone may still be on its way to another client: checked when all have ended.
    if (result === "payload" || result === "gone") return "done";
    push.unknown += 1;
    return result === "cut" ? "cut" : "refused";
  }

  /**
   * Without concurrent requests: retrieves pushes until they are gone, and expects exactly the remaining views.
   * @param share of the pushes, the oldest first; the others stay active.
   */
  async verify(baseUrl: string, share = 1): Promise<void> {
    const pushes = this.#pushes.splice(0, Math.floor(this.#pushes.length * share));
    for (let at = 0; at < pushes.length; at += verifiedAtOnceMax) {
      await Promise.all(pushes.slice(at, at + verifiedAtOnceMax).map((push) => this.#openToTheEnd(baseUrl, push)));
    }
    this.#verified += pushes.length;
  }

  async #openToTheEnd(baseUrl: string, push: Tracked): Promise<void> {
    while ((await retrieve(endpoints.apiV2, baseUrl, push)) === "payload") {
      push.delivered += 1;
      if (push.delivered > push.views) break;
    }
    expect(push.delivered, "opened more often than allowed").toBeLessThanOrEqual(push.views);
    expect(push.delivered + push.unknown, "lost views or a lost push").toBeGreaterThanOrEqual(push.views);
    this.#viewsWithoutAnswer += push.views - push.delivered;
  }

  get summary(): string {
    return (
      `${this.#verified} acknowledged pushes: none lost, none opened too often; ` +
      `${this.#viewsWithoutAnswer} views counted for requests that were cut or got 503`
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
