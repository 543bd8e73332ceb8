import { expect, test } from "vitest";
import { makeTestAccounts } from "../../../test/support/accounts.ts";
import { changeRows } from "../../../test/support/engine-database.ts";
import { openWithNestedLoops } from "../../../test/support/postgres/nested-loops.ts";
import { createSignOnStepStore } from "./sign-on-steps.ts";

test("with any join that PostgreSQL chooses, expired sessions and steps are removed in bounded batches", async () => {
  const { db } = await openWithNestedLoops();
  const { accounts } = makeTestAccounts({ db });
  const { id } = await accounts.createUser({ email: "ada@example.com", password: "a long enough one", admin: false });
  const session = `INSERT INTO sessions (digest, id, user_id, way, created_at, seen_at, waits_for_factor, persistent, address, user_agent)
    VALUES (?, ?, ?, 0, 0, ?, 0, 0, '', '')`;
  const step = "INSERT INTO sign_on_steps (digest, step_sealed, client, created_at) VALUES (?, ?, '', ?)";
  for (let at = 0; at < 5; at += 1) {
    await changeRows(db, session, Buffer.alloc(32, at), at, id, at);
    await changeRows(db, step, Buffer.alloc(32, at), Buffer.alloc(1), at);
  }
  const steps = createSignOnStepStore(db);
  for (const expected of [3, 2, 0]) {
    expect(await accounts.removeExpiredSessions(3)).toBe(expected);
    expect(await steps.deleteStepsBefore(10, 3)).toBe(expected);
  }
});
