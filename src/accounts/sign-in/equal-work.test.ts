import { describe, expect, it } from "vitest";
import { changeUsers } from "../../../test/support/access-rows.ts";
import { clientAt, makeTestAccounts, makeUser, password } from "../../../test/support/accounts.ts";
import { openEngineDatabase } from "../../../test/support/engine-database.ts";
import { systemRandom } from "../../base/random.ts";
import { createKeyring } from "../../crypto/keyring.ts";
import type { Database, Transaction } from "../../database/database.ts";
import { createOutbox } from "../../mail/outbox.ts";

/** Counts statements. On a network each one takes time, which a stranger can measure. */
function countStatements(db: Database) {
  let statements = 0;
  const counting = (tx: Transaction): Transaction => ({
    engine: tx.engine,
    one(statement, ...parameters) {
      statements += 1;
      return tx.one(statement, ...parameters);
    },
    all(statement, ...parameters) {
      statements += 1;
      return tx.all(statement, ...parameters);
    },
    run(statement, ...parameters) {
      statements += 1;
      return tx.run(statement, ...parameters);
    },
  });
  const counted: Database = {
    ...db,
    write: (work) => db.write((tx) => work(counting(tx))),
    writeSerialized: (turn, work) => db.writeSerialized(turn, (tx) => work(counting(tx))),
  };
  return {
    counted,
    async during(work: () => Promise<unknown>): Promise<number> {
      const before = statements;
      await work();
      return statements - before;
    },
  };
}

const confirmed = "ada@example.com";
const pending = "bob@example.com";
const disabled = "eve@example.com";
const unknown = "nobody@example.com";

function expectEqual(costs: readonly number[]): void {
  expect(costs[0]).toBeGreaterThan(3);
  expect(new Set(costs).size, costs.join()).toBe(1);
}

/** Accounts in each state, and the cost of each request for an email. */
async function makeFixture() {
  const db = openEngineDatabase();
  const { counted, during } = countStatements(db);
  const keyring = createKeyring([Buffer.alloc(32, 7)], systemRandom);
  const outbox = createOutbox({ db, keyring: () => keyring, open: true });
  const { accounts, access } = makeTestAccounts({ db: counted, outbox });
  await makeUser(accounts, confirmed);
  await makeUser(accounts, disabled);
  await changeUsers({ db, access }, { disabledAt: 1 }, disabled);
  const request = (email: string) => ({ email, language: "en", client: clientAt(email) });
  await accounts.signUp({ ...request(pending), password });
  return { accounts, request, during };
}

describe("the amount of work", () => {
  it("is the same for a sign-up with an address that is free, taken, waiting or disabled", async () => {
    const { accounts, request, during } = await makeFixture();
    const signUp = (email: string) => during(() => accounts.signUp({ ...request(email), password }));
    const costs = [];
    for (const email of [confirmed, pending, disabled, unknown]) costs.push(await signUp(email));
    expectEqual(costs);
  });

  it("is the same for a forgotten password with and without an account", async () => {
    const { accounts, request, during } = await makeFixture();
    const costs = [];
    for (const email of [confirmed, pending, disabled, unknown]) {
      costs.push(await during(() => accounts.requestReset(request(email))));
    }
    expectEqual(costs);
  });

  it("is the same for another confirmation email whether an account waits for one or not", async () => {
    const { accounts, request, during } = await makeFixture();
    const costs = [];
    for (const email of [confirmed, pending, disabled, unknown]) {
      costs.push(await during(() => accounts.requestConfirmation(request(email))));
    }
    expectEqual(costs);
  });
});

it("is the same for a client that asks too often, with the same answer", async () => {
  const { accounts, request, during } = await makeFixture();
  for (let asked = 0; asked < 5; asked += 1) {
    for (const email of [confirmed, unknown]) await accounts.requestReset(request(email));
  }
  const costs = [];
  for (const email of [confirmed, unknown]) costs.push(await during(() => accounts.requestReset(request(email))));
  expectEqual(costs);
});
