import { describe, expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { userActions } from "../../src/pages/admin/user.tsx";
import { changeUsers } from "../support/access-rows.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { countRows } from "../support/engine-database.ts";
import { addApp } from "../support/factors.ts";
import { linkIn, startMailSink } from "../support/mail-sink.ts";
import { type SignedInClient, signInClient } from "../support/signed-in-client.ts";

const ada = "ada@example.com";
const root = "root@example.com";
const next = "marble-otter-lantern";
const token = { name: "planted" };

async function userOf({ app }: TestApp, email: string) {
  const user = await app.domain.accounts.findUserByEmail(email);
  if (user === undefined) throw new Error(`${email} has no account.`);
  return user;
}

const tokensInUse = async (fixture: TestApp, email: string) =>
  (await fixture.app.domain.accounts.listTokens((await userOf(fixture, email)).id)).filter(
    ({ revokedAt }) => revokedAt === null,
  ).length;

async function sessionOf({ app }: TestApp, person: SignedInClient) {
  const session = await app.domain.accounts.authenticateSession(person.cookie().split("=")[1] ?? "");
  if (session === undefined) throw new Error("Nobody is signed in.");
  return session;
}

/** Sets up an authenticator app; the session stays valid. */
const setUpApp = async (fixture: TestApp, person: SignedInClient) =>
  addApp(
    {
      accounts: fixture.app.domain.accounts,
      now: () => fixture.clock.now(),
      advance: (ms) => fixture.clock.advance(ms),
    },
    await sessionOf(fixture, person),
  );

describe("a new API token", () => {
  test("needs the password in a session older than ten minutes", async () => {
    await using fixture = await startTestApp();
    const person = await signInClient(fixture, ada, { join: true });
    expect((await person.post("/users/token", { name: "fresh" })).status).toBe(201);
    fixture.clock.advance(11 * minuteMs);
    expect((await person.get("/users/token")).body).toContain('id="token_proof"');
    for (const proof of [{}, { proof: "" }, { proof: "wrong" }, { proof_passkey: "{}" }]) {
      const refused = await person.post("/users/token", { ...token, ...proof });
      expect(refused.status).toBe(422);
      expect(refused.body).toContain(en.factors.proof.wrong);
      // The typed name is shown again, but the proof is not.
      expect(refused.body).toContain('value="planted"');
      expect(refused.body).not.toContain('value="wrong"');
    }
    expect(await tokensInUse(fixture, ada)).toBe(1);
    expect((await person.post("/users/token", { ...token, proof: password })).status).toBe(201);
    expect(await tokensInUse(fixture, ada)).toBe(2);
  });

  test("needs the password or a factor even in a fresh session, if the account has a factor", async () => {
    await using fixture = await startTestApp();
    const person = await signInClient(fixture, ada, { join: true });
    const { app } = await setUpApp(fixture, person);
    expect((await person.post("/users/token", token)).status).toBe(422);
    expect((await person.post("/users/token", { ...token, proof: "000000" })).status).toBe(422);
    expect(await tokensInUse(fixture, ada)).toBe(0);
    expect((await person.post("/users/token", { ...token, proof: app.code() })).status).toBe(201);
    expect((await person.post("/users/token", { ...token, proof: password })).status).toBe(201);
  });

  test("a mistake in the form does not use up the code", async () => {
    await using fixture = await startTestApp();
    const person = await signInClient(fixture, ada, { join: true });
    const { app } = await setUpApp(fixture, person);
    const proof = app.code();
    expect((await person.post("/users/token", { name: "", proof })).status).toBe(422);
    expect((await person.post("/users/token", { ...token, proof })).status).toBe(201);
  });

  test("wrong proofs are limited like other guesses", async () => {
    await using fixture = await startTestApp();
    const person = await signInClient(fixture, ada, { join: true });
    fixture.clock.advance(11 * minuteMs);
    const answers = [];
    for (let at = 0; at < 12; at += 1)
      answers.push(await person.post("/users/token", { ...token, proof: `wrong ${at}` }));
    expect(answers.at(-1)?.status).toBe(429);
    expect(answers.at(-1)?.headers["retry-after"]).toBeDefined();
    expect(await tokensInUse(fixture, ada)).toBe(0);
  });

  test("is named on the account page for 30 days, and reported by email", async () => {
    const sink = await startMailSink();
    await using fixture = await startTestApp({ environment: sink.environment });
    const person = await signInClient(fixture, ada, { join: true });
    expect((await person.get("/users/edit?tab=sessions")).body).not.toContain(en.profile.tokens.made);
    await person.post("/users/token", { name: "<i>planted</i>" });
    const { body } = await person.get("/users/edit?tab=sessions");
    expect(body).toContain(en.profile.tokens.made);
    expect(body).toContain("<bdi>&lt;i>planted&lt;/i></bdi>");
    for (;;) {
      const { subject } = await sink.next(ada);
      if (subject?.includes(en.mail.accountNotifications.tokenMade.subject)) break;
    }
    fixture.clock.advance(31 * 24 * 60 * minuteMs);
    const later = await signInClient(fixture, ada);
    expect((await later.get("/users/edit?tab=sessions")).body).not.toContain(en.profile.tokens.made);
  });
});

describe("a change of the password", () => {
  test.each([
    ["by default", {}, 0],
    ["if the box is checked", { revoke_tokens: "1" }, 0],
    ["not if the box is unchecked", { revoke_tokens: "0" }, 1],
  ])("revokes the user's API tokens %s", async (_when, form, left) => {
    await using fixture = await startTestApp();
    const person = await signInClient(fixture, ada, { join: true });
    expect((await person.get("/users/edit?tab=access")).body).not.toContain('id="revoke_tokens"');
    await person.post("/users/token", token);
    expect((await person.get("/users/edit?tab=access")).body).toMatch(/id="revoke_tokens"[^>]* checked/);
    await person.post("/users/edit/password", { ...form, current_password: "wrong", password: next });
    expect(await tokensInUse(fixture, ada)).toBe(1);
    const changed = await person.post("/users/edit/password", { ...form, current_password: password, password: next });
    expect(changed.location).toBe("/users/edit?done=password");
    expect(await tokensInUse(fixture, ada)).toBe(left);
  });

  test("by a mailed link revokes them always", async () => {
    const sink = await startMailSink();
    await using fixture = await startTestApp({ environment: sink.environment });
    const person = await signInClient(fixture, ada, { join: true });
    await person.post("/users/token", token);
    await person.post("/users/password/new", { email: ada });
    for (;;) {
      const mail = await sink.next(ada);
      if (mail.text?.includes("reset_password_token") !== true) continue;
      const reset = linkIn(mail, "/users/password/edit").searchParams.get("reset_password_token") ?? "";
      await person.post("/users/password/edit", { reset_password_token: reset, password: next, revoke_tokens: "0" });
      break;
    }
    expect(await tokensInUse(fixture, ada)).toBe(0);
  });
});

describe("an administrator's action on a user", () => {
  const state = async (fixture: TestApp) => {
    const { accounts, db } = fixture.app.domain;
    const user = await accounts.findUserByEmail(ada);
    const links = await countRows(db, "mailed_links");
    return user && [user.admin, user.disabledAt !== null, user.hasSecondFactor, user.confirmedAt !== null, links];
  };

  test.each(userActions)("%s needs a proof in a session older than ten minutes", async (action) => {
    const environment = action === "ask_email" ? (await startMailSink()).environment : {};
    await using fixture = await startTestApp({ environment });
    const { accounts } = fixture.app.domain;
    const owner = await signInClient(fixture, ada, { join: true });
    await setUpApp(fixture, owner);
    const { id } = await userOf(fixture, ada);
    const by = { userId: null, email: "shell", address: "" };
    if (action === "demote") await accounts.setAdmin(id, true, by);
    if (action === "confirm") await changeUsers(fixture.app.domain, { confirmedAt: null }, ada);
    if (action === "enable") await accounts.setDisabled(id, true, by);
    const admin = await signInClient(fixture, root, { join: true, admin: true });
    fixture.clock.advance(11 * minuteMs);
    const before = await state(fixture);
    const path = `/admin/users/${id}/${action}`;

    const asked = await admin.post(path);
    expect(asked.status).toBe(200);
    expect(asked.body).toContain(`action="${path}"`);
    expect(asked.body).toContain('name="proof"');
    expect(asked.body).not.toContain(en.factors.proof.wrong);
    for (const proof of [{ proof: "" }, { proof: "wrong" }, { proof_passkey: "{}" }]) {
      const refused = await admin.post(path, proof);
      expect(refused.status).toBe(422);
      expect(refused.body).toContain(en.factors.proof.wrong);
    }
    expect(await state(fixture)).toEqual(before);
    expect(await admin.post(path, { proof: password, email: "moved@example.com" })).toMatchObject({
      status: 303,
      location: action === "delete" ? "/admin/users" : `/admin/users/${id}`,
    });
    expect(await state(fixture)).not.toEqual(before);
  });

  test("needs a proof in a fresh session, if the administrator has a factor", async () => {
    await using fixture = await startTestApp();
    await signInClient(fixture, ada, { join: true });
    const { id } = await userOf(fixture, ada);
    const admin = await signInClient(fixture, root, { join: true, admin: true });
    const { app } = await setUpApp(fixture, admin);
    expect((await admin.post(`/admin/users/${id}/promote`)).status).toBe(200);
    expect(await state(fixture)).toEqual([false, false, false, true, 0]);
    expect((await admin.post(`/admin/users/${id}/promote`, { proof: app.code() })).status).toBe(303);
    expect(await state(fixture)).toEqual([true, false, false, true, 0]);
  });

  test("on an unknown user asks for no proof", async () => {
    await using fixture = await startTestApp();
    const admin = await signInClient(fixture, root, { join: true, admin: true });
    fixture.clock.advance(11 * minuteMs);
    expect((await admin.post("/admin/users/999/delete")).status).toBe(404);
  });
});
