import { expect, test } from "vitest";
import { makeTestAccounts, makeUser } from "../../../test/support/accounts.ts";
import { changeRows } from "../../../test/support/engine-database.ts";

test("a choice of the form that cannot be remembered is reported, and fails nothing", async () => {
  const reported: string[] = [];
  const { accounts, db } = makeTestAccounts({ onUseNotRecorded: (of) => reported.push(of) });
  const { id } = await makeUser(accounts);
  const chosen = async () => (await accounts.pushDefaults(id)).senderShown;
  await accounts.rememberSenderShown(id, false);
  await accounts.setPushDefaults(id, { ...(await accounts.pushDefaults(id)), kind: "url" });
  expect([await chosen(), reported]).toEqual([false, []]);
  await changeRows(db, {
    sqlite: "CREATE TRIGGER broken BEFORE UPDATE ON users BEGIN SELECT RAISE(ABORT, 'broken'); END",
    postgres: "ALTER TABLE users ADD CONSTRAINT broken CHECK (push_defaults LIKE '%false%')",
  });
  await accounts.rememberSenderShown(id, false);
  expect(reported).toEqual([]);
  await accounts.rememberSenderShown(id, true);
  expect([await chosen(), reported]).toEqual([false, ["sender_choice"]]);
});
