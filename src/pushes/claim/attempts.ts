import { minuteMs, secondMs } from "../../base/clock.ts";
import { type Charge, chargeAll, type Limits } from "../../limits/limits.ts";
import { createNetworkCounter } from "../../limits/network-counter.ts";

const rememberedMax = 200_000;
/** Guesses of one client for one push. The larger networks around an IPv6 client have a larger share. */
const perClient = { name: "passphrase", windowMs: minuteMs, max: 5, rememberedMax };
const guessed = { name: "passphrase guessed", windowMs: 10 * minuteMs, max: 1, rememberedMax };
/** Guesses of all clients for one push: the first of each client, and those of clients that have guessed before. */
const firstGuesses = { name: "first passphrases", windowMs: 5 * secondMs, max: 3, rememberedMax };
const furtherGuesses = { name: "further passphrases", windowMs: minuteMs, max: 30, rememberedMax };

const waitMsMax = 10 * secondMs;
const retryMs = 250;
const triesMax = 1 + waitMsMax / retryMs;
/** About the number of clients that get a turn in that time. */
const waitingPerPushMax = 8;
const waitingMax = 1_000;

interface AttemptsDeps {
  readonly limits: Limits;
  readonly monotonicMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

export type Attempts = ReturnType<typeof createAttempts>;

/**
 * Limits wrong passphrases of a push: per client, per network, and over all clients. An attempt is charged before the
 * passphrase is tried and refunded when it is correct, so parallel guesses gain nothing. The first guess of each client
 * has a share of its own and waits some seconds for its turn, so guesses from many addresses do not lock the recipient
 * out unless they come from new addresses faster than that share. When too many keys are tracked, the oldest is
 * forgotten: flushing the table takes more requests than the guesses it gains.
 */
export function createAttempts({ limits, monotonicMs, pause }: AttemptsDeps) {
  const ofClients = limits.sliding(perClient);
  const ofNetworks = createNetworkCounter((shares) =>
    shares === 1 ? ofClients : limits.sliding({ ...perClient, max: Math.floor(perClient.max * shares) }),
  );
  const keyOf = (pushId: number, network: string) => `${pushId} ${network}`;
  const guessedBefore = limits.sliding(guessed);
  const firsts = limits.sliding(firstGuesses);
  const furthers = limits.sliding(furtherGuesses);
  const turns = createTurns();

  async function chargeFirst(pushId: number, now: number): Promise<Charge> {
    const startedAt = monotonicMs();
    return await turns.wait(pushId, async () => {
      for (let tries = 1; ; tries += 1) {
        const waitedMs = Math.floor(monotonicMs() - startedAt);
        const charge = await firsts.charge(String(pushId), now + waitedMs);
        if (charge.outcome === "charged" || tries >= triesMax || waitedMs >= waitMsMax) return charge;
        await pause(retryMs);
      }
    });
  }

  return {
    /** Whether this client has not failed at this push in the last minute, and is not trying now. */
    isFresh: (client: string, pushId: number, now: number) => ofClients.isUnused(keyOf(pushId, client), now),

    /** May wait up to 10 seconds. @param client a client's key. */
    async charge(client: string, pushId: number, now: number): Promise<Charge> {
      const ofNetwork = () => ofNetworks.charge(client, now, 1, (name) => keyOf(pushId, name));
      const ofPush = async () => {
        const first = await guessedBefore.charge(`${pushId} ${client}`, now);
        return first.outcome === "charged"
          ? await chargeAll([async () => first, () => chargeFirst(pushId, now)])
          : await furthers.charge(String(pushId), now);
      };
      return await chargeAll([ofNetwork, ofPush]);
    },
  };
}

/** Attempts at the same push one after the other, in order of arrival. */
function createTurns() {
  const lines = new Map<number, { length: number; last: Promise<unknown> }>();
  let waiting = 0;

  return {
    /** @returns a refusal, without waiting for a turn, when too many wait. */
    async wait(pushId: number, attempt: () => Promise<Charge>): Promise<Charge> {
      const line = lines.get(pushId) ?? { length: 0, last: Promise.resolve() };
      if (line.length >= waitingPerPushMax || waiting >= waitingMax) {
        return { outcome: "refused", retryAfterSeconds: waitMsMax / secondMs };
      }
      lines.set(pushId, line);
      line.length += 1;
      waiting += 1;
      const turn = line.last.then(attempt);
      line.last = turn.catch(() => undefined);
      try {
        return await turn;
      } finally {
        waiting -= 1;
        line.length -= 1;
        if (line.length === 0) lines.delete(pushId);
      }
    },
  };
}
