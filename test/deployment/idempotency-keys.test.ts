import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { secondMs } from "../../src/base/clock.ts";
import { openDeployment } from "../support/deployment.ts";
import type { Owner } from "../support/owner.ts";

const deployment = openDeployment({ watched: true });
let ada: Owner;
beforeAll(async () => {
  ada = await deployment.makeUser("ada@example.com");
});

/** Longer than the copy for a repetition lives, and than the database waits for a transaction that stands still. */
const suspensionMs = 5 * secondMs;

/** Matches the first statement that `last` matches, after one that `first` has matched: other requests send such statements, too. */
function after(first: RegExp, last: RegExp): Pick<RegExp, "test"> {
  let isReached = false;
  return {
    test(statement) {
      if (isReached) return last.test(statement);
      isReached = first.test(statement);
      return false;
    },
  };
}

/** Sends a request to a process that is suspended before a statement, and the same to the other process meanwhile. */
async function sendTwice<Answer>(statement: Pick<RegExp, "test">, send: () => Promise<Answer>) {
  deployment.continueWith(0);
  const { suspended, resumed } = deployment.suspendAt(0, statement, suspensionMs);
  const late = send();
  await suspended;
  deployment.continueWith(1);
  const other = await send();
  await resumed;
  return { other, late: await late };
}

const stages = (select: RegExp, insert: RegExp) =>
  [
    ["before the read", select],
    ["before BEGIN", after(select, /^BEGIN/)],
    ["after takeKey", after(insert, /^INSERT INTO row_secrets/)],
    ["before COMMIT", after(insert, /^COMMIT/)],
  ] as const;

const isInTransaction = (stage: string) => ["after takeKey", "before COMMIT"].includes(stage);

test.each(stages(/JOIN creation_keys ON/, /^INSERT INTO creation_keys/))(
  "a process that is suspended %s creates no second push",
  async (stage, statement) => {
    const headers = { authorization: `Bearer ${ada.apiToken}`, "idempotency-key": randomUUID() };
    const create = () => deployment.api("/api/v2/pushes", { body: { push: { payload: stage } }, headers });
    const countPushes = async () =>
      (await deployment.query<{ count: string }>("SELECT count(*) FROM pushes WHERE owner_id IS NOT NULL"))[0]?.count;
    const before = Number(await countPushes());
    const { other, late } = await sendTwice(statement, create);
    expect([other.status, other.process]).toEqual([201, 1]);
    expect([late.status, late.process]).toEqual([isInTransaction(stage) ? 503 : 201, 0]);
    for (let repeat = 0; repeat < 2; repeat += 1) {
      expect((await create()).body.url_token).toBe(other.body.url_token);
    }
    expect(Number(await countPushes())).toBe(before + 1);
  },
);

test.each(stages(/FROM claim_retries WHERE push_id = \$/, /^INSERT INTO claim_retries/))(
  "a process that is suspended %s counts no second view",
  async (stage, statement) => {
    const { body } = await deployment.api("/api/v2/pushes", {
      body: { push: { payload: stage, expire_after_views: 5 } },
    });
    const path = `/api/v2/pushes/${body.url_token}`;
    const headers = { "idempotency-key": randomUUID() };
    const claim = () => deployment.api(path, { headers });
    const { other, late } = await sendTwice(statement, claim);
    expect(other).toMatchObject({ status: 200, process: 1, body: { payload: stage, views_remaining: 4 } });
    expect([late.status, late.process]).toEqual([isInTransaction(stage) ? 503 : 422, 0]);
    expect((await claim()).status).toBe(422);
    expect((await deployment.api(path)).body).toMatchObject({ payload: stage, views_remaining: 3 });
  },
);
