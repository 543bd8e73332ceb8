import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { changeUsers } from "../support/access-rows.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { engine } from "../support/engine.ts";
import { encode, type Fields, sendForm } from "../support/every-form.ts";
import { startMailSink } from "../support/mail-sink.ts";
import { signInClient } from "../support/signed-in-client.ts";

/** Counts the calls of the password hash, the part of a response that takes time. */
const slow = vi.hoisted(() => ({ hashes: 0, checks: 0 }));
vi.mock("@node-rs/argon2", async (importOriginal) => {
  const argon2 = await importOriginal<typeof import("@node-rs/argon2")>();
  const hash: typeof argon2.hash = (...given) => {
    slow.hashes += 1;
    return argon2.hash(...given);
  };
  const verify: typeof argon2.verify = (...given) => {
    slow.checks += 1;
    return argon2.verify(...given);
  };
  return { ...argon2, hash, verify };
});

/** Addresses of equal length, so that the responses have equal length too. */
const known = "known@example.com";
const unknown = "nobdy@example.com";
const disabled = "offed@example.com";
const waiting = "waits@example.com";
const elsewhere = "ssoer@example.com";
const malformed = "no email address!";
const wrong = "wrong wrong wrong";

interface Fixture {
  readonly fixture: TestApp;
  /** The session cookie of another user. */
  readonly cookie: string;
}

/** No job runs, so that only requests write: the first run of one may end late. */
vi.mock("../../src/jobs/timetable.ts", () => ({ startTimetable: async () => ({ stop: async () => undefined }) }));

/** An account in every state. */
async function open(environment: Readonly<Record<string, string>> = {}): Promise<Fixture> {
  const sink = await startMailSink();
  const fixture = await startTestApp({ environment: { ...sink.environment, ...environment } });
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  const { accounts } = fixture.app.domain;
  await accounts.createUser({ email: known, password, admin: false });
  await accounts.createUser({ email: elsewhere, password, admin: false });
  await changeUsers(fixture.app.domain, { passwordSealed: null, hasPassword: false }, elsewhere);
  const { id } = await accounts.createUser({ email: disabled, password, admin: false });
  await accounts.setDisabled(id, true, { userId: null, email: "shell", address: "" });
  const cookie = (await signInClient(fixture, "mallory@example.com", { join: true })).cookie();
  await sendForm(fixture.server, "/users/sign_up", encode({ email: waiting, password }, "urlencoded"), {});
  return { fixture, cookie };
}

let place = 0;

function nextAddress(): string {
  place += 1;
  return `198.51.${place >> 8}.${place & 255}`;
}

/**
 * The number of transactions is compared only on SQLite. PostgreSQL counts the limits in the database, and an attempt that
 * conflicts may add some to any request.
 */
const wrote = (writes: number) => (engine === "sqlite" ? { writes } : {});

/** Everything a client can observe, including the work that response times would reveal. */
async function observe({ fixture }: Fixture, url: string, fields: Fields, cookie?: string) {
  const { db } = fixture.app.domain;
  const before = { units: db.counts.transactions, ...slow };
  const sender = { address: nextAddress(), ...(cookie !== undefined && { cookie }) };
  const answer = await sendForm(fixture.server, url, encode(fields, "urlencoded"), sender);
  const { date: _date, "x-request-id": _id, ...headers } = answer.headers;
  return {
    status: answer.statusCode,
    headers,
    cookies: answer.cookies,
    body: answer.body.replaceAll(fields.email ?? "", "(typed)").replaceAll(/[0-9a-f]{16}/g, "(id)"),
    ...wrote(db.counts.transactions - before.units),
    hashes: slow.hashes - before.hashes,
    checks: slow.checks - before.checks,
  };
}

beforeAll(() =>
  expect([known, unknown, disabled, waiting, elsewhere, malformed].map(({ length }) => length)).toEqual(
    Array(6).fill(17),
  ),
);

describe("user enumeration: response, writes and hashing do not depend on whether an account exists", () => {
  test("a sign-in with a wrong password, with one check of a hash", async () => {
    const opened = await open();
    const answerFor = (email: string, as = wrong) => observe(opened, "/users/sign_in", { email, password: as });
    const expected = await answerFor(unknown);
    expect(expected).toMatchObject({ status: 401, cookies: [], checks: 1, hashes: 0, ...wrote(0) });
    for (const email of [known, disabled, waiting, elsewhere]) {
      expect([email, await answerFor(email)]).toEqual([email, expected]);
    }
    expect(await answerFor(disabled, password)).toEqual(expected);
    expect(await answerFor(elsewhere, "")).toEqual(await answerFor(unknown, ""));
  });

  test("a sign-in after too many tries", async () => {
    const opened = await open();
    const triesFor = async (email: string) => {
      const statuses: number[] = [];
      const address = nextAddress();
      for (let at = 0; at < 12; at += 1) {
        const body = encode({ email, password: `${wrong} ${at}` }, "urlencoded");
        statuses.push((await sendForm(opened.fixture.server, "/users/sign_in", body, { address })).statusCode);
      }
      return statuses;
    };
    expect(await triesFor(known)).toEqual(await triesFor(unknown));
  });

  test("a sign-up, with account emails", async () => {
    const opened = await open();
    const answerFor = (email: string) => observe(opened, "/users/sign_up", { email, password });
    const expected = await answerFor(unknown);
    expect(expected).toMatchObject({ status: 200, cookies: [], hashes: 1, checks: 0, ...wrote(1) });
    for (const email of [known, disabled, waiting, elsewhere]) {
      expect([email, await answerFor(email)]).toEqual([email, expected]);
    }
  });

  test("a sign-up and a sign-in with its password before the confirmation", async () => {
    const opened = await open();
    const answerFor = async (email: string) => {
      await observe(opened, "/users/sign_up", { email, password: "a stranger's choice" });
      return await observe(opened, "/users/sign_in", { email, password: "a stranger's choice" });
    };
    const taken = await answerFor(known);
    expect(taken).toMatchObject({ status: 401, checks: 1 });
    for (const email of [unknown, disabled, elsewhere]) {
      expect([email, await answerFor(email)]).toEqual([email, taken]);
    }
  });

  test("a password reset", async () => {
    const opened = await open();
    const answerFor = (email: string) => observe(opened, "/users/password/new", { email });
    const expected = await answerFor(unknown);
    expect(expected).toMatchObject({ status: 200, cookies: [], ...wrote(1), hashes: 0, checks: 0 });
    for (const email of [known, disabled, waiting, elsewhere, malformed]) {
      expect([email, await answerFor(email)]).toEqual([email, expected]);
    }
  });

  test("a request for another confirmation email", async () => {
    const opened = await open();
    const answerFor = (email: string) => observe(opened, "/users/confirmation/new", { email });
    const expected = await answerFor(unknown);
    expect(expected).toMatchObject({ status: 200, cookies: [], ...wrote(1), hashes: 0, checks: 0 });
    for (const email of [known, disabled, waiting, elsewhere]) {
      expect([email, await answerFor(email)]).toEqual([email, expected]);
    }
  });

  test("a change of the email address, with account emails", async () => {
    const opened = await open();
    const answerFor = (email: string) => observe(opened, "/users/edit/email", { email, password }, opened.cookie);
    const expected = await answerFor(unknown);
    expect(expected).toMatchObject({ status: 303, ...wrote(1), checks: 1, hashes: 0 });
    for (const email of [known, disabled, waiting]) {
      expect([email, await answerFor(email)]).toEqual([email, expected]);
    }
    expect(await answerFor(elsewhere)).toMatchObject({ status: 303 });
    // The limit counts addresses that are taken like those that are free.
    expect(
      await observe(opened, "/users/edit/email", { email: "sixth@example.com", password }, opened.cookie),
    ).toMatchObject({
      status: 422,
    });
  });
});
