import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { secondMs } from "../../src/base/clock.ts";
import { processHeader } from "../support/alternating-proxy.ts";
import { openDeployment } from "../support/deployment.ts";

/** With the time for repetitions that a server has by default. */
const deployment = openDeployment({ watched: true, environment: { PWP__CLAIM_RETRY_SECONDS: "" } });
const suspensionMs = 66 * secondMs;
const keysOfEach = 8;

interface Answer {
  readonly status: number;
  readonly body: { readonly url_token?: string; readonly payload?: string; readonly views_remaining?: number };
}

/** Matches once both statements were seen. */
function both(one: RegExp, other: RegExp): Pick<RegExp, "test"> {
  const awaited = new Set([one, other]);
  return {
    test(statement) {
      for (const each of awaited) if (each.test(statement)) awaited.delete(each);
      return awaited.size === 0;
    },
  };
}

test("a process that is suspended for longer than a minute, with creations and claims in work, repeats none", async () => {
  const owner = await deployment.makeUser("ada@example.com");
  const urlTokens = new Map<string, string>();
  for (let made = 0; made < keysOfEach; made += 1) {
    const push = { payload: "secret", expire_after_views: 5 };
    urlTokens.set(randomUUID(), (await deployment.api("/api/v2/pushes", { body: { push } })).body.url_token);
  }
  const creationKeys = Array.from({ length: keysOfEach }, () => randomUUID());
  let answered = 0;
  const count = <T>(answer: T) => {
    answered += 1;
    return answer;
  };
  const headersOf = (key: string, which: 0 | 1) => ({ "idempotency-key": key, [processHeader]: String(which) });
  const sendAll = (which: 0 | 1): Promise<Answer>[] => [
    ...[...urlTokens].map(([key, urlToken]) =>
      deployment.api(`/api/v2/pushes/${urlToken}`, { headers: headersOf(key, which) }).then(count),
    ),
    ...creationKeys.map((key) =>
      deployment
        .api("/api/v2/pushes", {
          body: { push: { payload: key } },
          headers: { ...headersOf(key, which), authorization: `Bearer ${owner.apiToken}` },
        })
        .then(count),
    ),
  ];
  const { suspended, resumed } = deployment.suspendAt(
    0,
    both(/FROM claim_retries WHERE push_id = \$/, /JOIN creation_keys ON/),
    suspensionMs,
  );
  const lateAnswers = sendAll(0);
  await suspended;
  expect(answered).toBeLessThan(2 * keysOfEach);
  const others = await Promise.all(sendAll(1));
  expect(others.map(({ status }) => status)).toEqual([...Array(keysOfEach).fill(200), ...Array(keysOfEach).fill(201)]);
  await resumed;
  const late = await Promise.all(lateAnswers);
  for (const [at, other] of others.entries()) {
    const { status, body } = late[at] ?? {};
    // Its body had not been read when the process stood still; nothing was written; or the key was used.
    if (status === 408 || status === 503 || status === 422) continue;
    expect([status, body?.url_token, body?.views_remaining]).toEqual([
      other.status,
      other.body.url_token,
      other.body.views_remaining,
    ]);
  }
  for (const urlToken of urlTokens.values()) {
    const { body } = await deployment.api(`/api/v2/pushes/${urlToken}`);
    expect(body).toMatchObject({ payload: "secret", views_remaining: 3 });
  }
  const [{ made } = { made: 0 }] = await deployment.query<{ made: number }>(
    "SELECT count(*)::int AS made FROM pushes WHERE owner_id IS NOT NULL",
  );
  expect(made).toBe(keysOfEach);
});
