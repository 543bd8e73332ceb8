import { rmSync } from "node:fs";
import { join } from "node:path";
import { Secret } from "otpauth";
import { expect, onTestFinished, test } from "vitest";
import { factorLimits } from "../../src/accounts/factors/factor-codes.ts";
import { totpCode, totpStep } from "../../src/accounts/factors/totp.ts";
import { sql } from "../../src/database/statement.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { readRows, tablesOf } from "../support/engine-database.ts";
import { encode, sendForm } from "../support/every-form.ts";
import { appFor } from "../support/factors.ts";
import { linkIn, startMailSink } from "../support/mail-sink.ts";
import { createOwnedPushes, type OwnedPushes } from "../support/owned-pushes.ts";
import { filesIn } from "../support/raw-files.ts";
import { signInClient } from "../support/signed-in-client.ts";
import { storedIn } from "../support/stored.ts";

const moved = "moved@example.com";
const waiting = "waits@example.com";

interface Domain {
  readonly fixture: TestApp;
  readonly ownedPushes: OwnedPushes;
  /** Tokens of emailed links that are still valid. */
  readonly links: { readonly reset: string; readonly confirmation: string; readonly email: string };
}

/** A user with data of every kind, and a valid emailed link of every kind. */
async function open(): Promise<Domain> {
  const sink = await startMailSink();
  const fixture = await startTestApp({ environment: sink.environment });
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  const ownedPushes = await createOwnedPushes(fixture);
  const tokenOf = async (to: string, path: string, parameter: string) => {
    for (;;) {
      const mail = await sink.next(to);
      if (mail.text?.includes(path)) return linkIn(mail, path).searchParams.get(parameter) ?? "";
    }
  };
  await ownedPushes.person.post("/users/edit/email", { email: moved, password });
  const stranger = (url: string, fields: Readonly<Record<string, string>>) =>
    sendForm(fixture.server, url, encode(fields, "urlencoded"), {});
  await stranger("/users/password/new", { email: ownedPushes.email });
  await stranger("/users/sign_up", { email: waiting, password });
  const links = {
    reset: await tokenOf(ownedPushes.email, "/users/password/edit", "reset_password_token"),
    email: await tokenOf(moved, "/users/confirmation/new_email", "token"),
    confirmation: await tokenOf(waiting, "/users/confirmation", "confirmation_token"),
  };
  return { fixture, ownedPushes, links };
}

/** Every value of every column, in each encoding in which a client could send it. */
async function valuesIn({ app }: TestApp): Promise<readonly string[]> {
  const { db } = app.domain;
  const cells: unknown[] = [];
  for (const table of await tablesOf(db)) {
    for (const row of await readRows(db, `SELECT * FROM ${table}`)) cells.push(...Object.values(row));
  }
  const forms = cells.flatMap((cell) => {
    if (typeof cell === "string") return [cell];
    if (!Buffer.isBuffer(cell)) return [];
    return [cell.toString("base64url"), cell.toString("hex"), cell.toString("base64"), cell.toString("latin1")];
  });
  return [...new Set(forms)].filter((form) => form.length >= 8);
}

test("the database alone contains no usable session, token, link or password", async () => {
  const { fixture, ownedPushes, links } = await open();
  const values = await valuesIn(fixture);
  expect(values.length).toBeGreaterThan(60);
  const { accounts } = fixture.app.domain;
  for (const value of values) {
    const found = {
      session: await accounts.authenticateSession(value),
      token: await accounts.authenticateToken({ token: value, address: "198.51.100.1" }),
      confirmable: await accounts.isConfirmable(value),
      resettable: await accounts.isResettable(value),
      newEmail: await accounts.findNewEmail(value),
    };
    expect([value, found]).toEqual([
      value,
      { session: undefined, token: undefined, confirmable: false, resettable: false, newEmail: undefined },
    ]);
  }
  // The real ones are accepted by the same functions.
  expect(await accounts.authenticateSession(ownedPushes.person.cookie().split("=")[1] ?? "")).toBeDefined();
  expect(await accounts.authenticateToken({ token: ownedPushes.apiToken, address: "198.51.100.1" })).toBeDefined();
  expect(await accounts.isResettable(links.reset)).toBe(true);
  expect(await accounts.isConfirmable(links.confirmation)).toBe(true);
  expect(await accounts.findNewEmail(links.email)).toBe(moved);
});

test("hashes, digests and sealed secrets from the database are refused as passwords and codes", async () => {
  const { fixture, ownedPushes } = await open();
  const column = async <T extends string | Buffer>(text: string) =>
    (await fixture.app.domain.db.read.all(sql<[], { value: T }>(text))).map(({ value }) => value);
  const [password = Buffer.alloc(0)] = await column<Buffer>(
    "SELECT password_sealed AS value FROM users WHERE password_sealed IS NOT NULL",
  );
  for (const given of [password.toString("hex"), password.toString("base64"), password.toString("latin1")]) {
    const answer = await sendForm(
      fixture.server,
      "/users/sign_in",
      encode({ email: ownedPushes.email, password: given }, "urlencoded"),
      {},
    );
    expect(answer.statusCode).toBe(401);
  }
  const [sealed = Buffer.alloc(0)] = await column<Buffer>("SELECT secret_sealed AS value FROM totp_factors");
  const step = totpStep(fixture.clock.now());
  const secrets = [sealed, sealed.subarray(-20), sealed.subarray(-36, -16), sealed.subarray(0, 20)];
  const digests = await column<Buffer>("SELECT digest AS value FROM backup_codes");
  expect(digests).toHaveLength(10);
  const fields = [
    ...secrets.map((secret) => ({ code: totpCode(Buffer.from(secret), step) })),
    ...digests.flatMap((digest) => [
      { backup_code: digest.toString("hex") },
      { backup_code: digest.toString("base64url") },
      { backup_code: digest.toString("hex").slice(0, 16) },
    ]),
  ];
  for (const given of fields) {
    const person = await signInClient(fixture, ownedPushes.email);
    expect([given, (await person.post("/users/second_factor", given)).status]).toEqual([given, 401]);
    fixture.clock.advance(factorLimits.windowMs);
  }
  const person = await signInClient(fixture, ownedPushes.email);
  expect((await person.post("/users/second_factor", { backup_code: ownedPushes.backupCodes[0] ?? "" })).status).toBe(
    303,
  );
});

test("the data folder and the database contain no account secret in plain text, except the master key", async () => {
  const { fixture, ownedPushes, links } = await open();
  const { canaries } = ownedPushes;
  canaries.add("session", ownedPushes.person.cookie().split("=")[1] ?? "");
  canaries.add("API token", ownedPushes.apiToken);
  for (const [name, token] of Object.entries(links)) canaries.add(`${name} link`, token);
  for (const [at, code] of ownedPushes.backupCodes.entries()) {
    canaries.add(`backup code ${at}`, code);
    canaries.add(`backup code ${at}, as it is digested`, code.replaceAll("-", ""));
  }
  const page = await ownedPushes.person.get("/users/factors/authenticator_app");
  const key = (/<output[^>]*>([A-Z2-7 ]+)<\/output>/.exec(page.body)?.[1] ?? "").replaceAll(" ", "");
  const setUp = /name="set_up" value="([^"]*)"/.exec(page.body)?.[1] ?? "";
  const fields = { set_up: setUp, code: appFor(key, () => fixture.clock.now()).code(), proof: password };
  expect((await ownedPushes.person.post("/users/factors/authenticator_app", fields)).status).toBe(303);
  canaries.add("the app's key", key);
  canaries.add("the app's key in bytes", Buffer.from(Secret.fromBase32(key).bytes).toString("latin1"));
  canaries.add("account password", password);
  canaries.add("master key", filesIn(fixture.dataDir).get("master.key")?.toString("latin1").trim() ?? "");
  // Not sealed by design: addresses, user agents and the names of things.
  const known = ["API token's name", "address", "email", "passkey's name", "referrer", "subject", "user agent"];
  for (const [path, bytes] of await storedIn(fixture.dataDir)) {
    if (path === "master.key") continue;
    const found = canaries.namesIn(bytes).filter((name) => !known.includes(name));
    expect([path, found]).toEqual([path, []]);
  }
});

test("the server does not start on a data folder with another master key", async () => {
  const fixture = await startTestApp();
  const { dataDir, clock } = fixture;
  await createOwnedPushes(fixture);
  await fixture.app.close();
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  rmSync(join(dataDir, "master.key"));
  await expect(startTestApp({ dataDir, clock })).rejects.toThrow("master.key");
  const environment = { PWPUSH_MASTER_KEY: "ab".repeat(32) };
  await expect(startTestApp({ dataDir, clock, environment })).rejects.toThrow();
});
