import { describe, expect, it } from "vitest";
import { clientAt, makeTestAccounts, makeUser, password } from "../../../test/support/accounts.ts";
import { minuteMs } from "../../base/clock.ts";
import { unavailable } from "../../base/errors.ts";
import { systemRandom } from "../../base/random.ts";
import { createArgon2Queue, makeDummyHash } from "../../crypto/passphrase.ts";

const email = "ada@example.com";
const wrong = "incorrect horse battery";

describe("signIn", () => {
  it("starts a session for the right address and password only", async () => {
    const { accounts } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const first = await accounts.signIn({ email: " ADA@example.com", password, client: clientAt("c") });
    const second = await accounts.signIn({ email, password, client: clientAt("c") });
    expect(first?.user).toEqual(ada);
    expect(first?.sessionToken).not.toBe(second?.sessionToken);
    expect(await accounts.signIn({ email, password: wrong, client: clientAt("c") })).toBeUndefined();
    expect(await accounts.signIn({ email, password: "", client: clientAt("c") })).toBeUndefined();
    expect(await accounts.signIn({ email: "eve@example.com", password, client: clientAt("c") })).toBeUndefined();
    expect(await accounts.signIn({ email: "no address", password, client: clientAt("c") })).toBeUndefined();
  });

  it("does the same work for an unknown address as for a known one", async () => {
    const { accounts, checks } = makeTestAccounts();
    await makeUser(accounts);
    await accounts.signIn({ email, password: wrong, client: clientAt("c") });
    expect(checks()).toBe(1);
    await accounts.signIn({ email: "eve@example.com", password: wrong, client: clientAt("c") });
    expect(checks()).toBe(2);
    await accounts.signIn({ email: "no address", password: wrong, client: clientAt("c") });
    expect(checks()).toBe(3);
  });

  it("never accepts the dummy hash, which costs as much as a real one", async () => {
    const queue = createArgon2Queue({ runningMax: 1, waitingMax: 40, waitingPerClientMax: 40 });
    const dummy = makeDummyHash(systemRandom);
    const real = await queue.hashPassword(password, "c");
    const shape = (hash: string) => hash.split(":").map((part, at) => (at < 2 ? part : part.length));
    expect(shape(dummy)).toEqual(shape(real));
    expect(await queue.verifyPassword(dummy, password, "c")).toBe(false);
    expect(await queue.verifyPassword(dummy, "", "c")).toBe(false);
  });

  it("does no work for texts that cannot be a password", async () => {
    const { accounts, checks } = makeTestAccounts();
    await makeUser(accounts);
    expect(await accounts.signIn({ email, password: "a".repeat(1_025), client: clientAt("c") })).toBeUndefined();
    expect(await accounts.signIn({ email, password: "\udc00", client: clientAt("c") })).toBeUndefined();
    expect(checks()).toBe(0);
  });
});

describe("the limits of signIn", () => {
  it("stop guesses at one address, also parallel ones, until the window ends", async () => {
    const { accounts, advance, checks } = makeTestAccounts();
    await makeUser(accounts);
    const guesses = Array.from({ length: 30 }, () =>
      accounts.signIn({ email, password: wrong, client: clientAt("c") }),
    );
    const outcomes = await Promise.allSettled(guesses);
    expect(outcomes.filter((outcome) => outcome.status === "fulfilled")).toHaveLength(10);
    expect(checks()).toBe(10);
    advance(minuteMs);
    await expect(accounts.signIn({ email, password, client: clientAt("c") })).rejects.toMatchObject({
      code: "too_many_requests",
      retryAfterSeconds: 540,
    });
    advance(9 * minuteMs);
    await expect(accounts.signIn({ email, password, client: clientAt("c") })).resolves.toBeDefined();
  });

  it("only slow the client that guesses", async () => {
    const { accounts } = makeTestAccounts();
    await makeUser(accounts);
    for (let at = 0; at < 10; at += 1) await accounts.signIn({ email, password: wrong, client: clientAt("guesser") });
    await expect(accounts.signIn({ email, password, client: clientAt("guesser") })).rejects.toMatchObject({
      code: "too_many_requests",
    });
    await expect(accounts.signIn({ email, password, client: clientAt("owner") })).resolves.toBeDefined();
  });

  it("stop one client that tries many addresses", async () => {
    const { accounts, advance, checks } = makeTestAccounts();
    const guess = (at: number) =>
      accounts.signIn({ email: `user${at}@example.com`, password: wrong, client: clientAt("c") });
    const outcomes: PromiseSettledResult<unknown>[] = [];
    for (let minute = 0; minute < 4; minute += 1) {
      // No more than the password hashes that one client may cause in a minute.
      outcomes.push(...(await Promise.allSettled(Array.from({ length: 20 }, (_, at) => guess(20 * minute + at)))));
      advance(minuteMs);
    }
    expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(30);
    expect(checks()).toBe(50);
  });

  it("refund the charge of a right password", async () => {
    const { accounts } = makeTestAccounts();
    await makeUser(accounts);
    for (let at = 0; at < 60; at += 1) {
      expect(await accounts.signIn({ email, password, client: clientAt("c") })).toBeDefined();
    }
  });

  it("charge nothing when the password was not checked", async () => {
    let full = true;
    const { accounts } = makeTestAccounts({
      argon2: {
        hashPassword: async () => "hash",
        verifyPassword: async () => {
          if (full) throw unavailable("Full.", 1);
          return true;
        },
      },
    });
    await makeUser(accounts);
    for (let at = 0; at < 20; at += 1) {
      await expect(accounts.signIn({ email, password, client: clientAt("c") })).rejects.toMatchObject({
        code: "unavailable",
      });
    }
    full = false;
    await expect(accounts.signIn({ email, password, client: clientAt("c") })).resolves.toBeDefined();
  });
});
