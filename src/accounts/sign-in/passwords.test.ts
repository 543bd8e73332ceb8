import bcrypt from "bcryptjs";
import { describe, expect, it } from "vitest";
import { clientAt, makeTestAccounts, makeUser, password, type TestAccounts } from "../../../test/support/accounts.ts";
import { readRows } from "../../../test/support/engine-database.ts";
import { minuteMs } from "../../base/clock.ts";
import { userSet } from "../../crypto/argon2-costs.ts";
import { createArgon2Queue } from "../../crypto/passphrase.ts";

const email = "ada@example.com";
const next = "marble-otter-lantern";
const client = clientAt("c");
const refusal = { code: "too_many_requests" };

/** @returns the token and id of a new session. */
async function signIn({ accounts }: TestAccounts, as = password) {
  const signedIn = await accounts.signIn({ email, password: as, client });
  const session = await accounts.authenticateSession(signedIn?.sessionToken ?? "");
  if (signedIn === undefined || session === undefined) throw new Error("Nobody is signed in.");
  return { token: signedIn.sessionToken, id: session.id };
}

const emails = async ({ db }: TestAccounts) => (await readRows(db, "SELECT id FROM outbox")).length;

const setHash = (fixture: TestAccounts, hash: string) => fixture.setPasswordHash(hash);

const hashOf = async (fixture: TestAccounts) => (await fixture.passwordHashes())[0];

describe("checkPassword", () => {
  it("accepts the password of this user only", async () => {
    const { accounts } = makeTestAccounts();
    const ada = await makeUser(accounts);
    expect(await accounts.checkPassword(ada.id, password, client)).toBe(true);
    expect(await accounts.checkPassword(ada.id, next, client)).toBe(false);
    expect(await accounts.checkPassword(ada.id + 1, password, client)).toBe(false);
    expect(await accounts.checkPassword(ada.id, "", client)).toBe(false);
  });

  it("shares its limits with signing in, so that it allows no further guesses", async () => {
    const { accounts, checks } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const guesses = Array.from({ length: 30 }, (_, at) => {
      const wrong = `wrong guess ${at}`;
      if (at % 3 === 0) return accounts.signIn({ email, password: wrong, client });
      if (at % 3 === 1) return accounts.checkPassword(ada.id, wrong, client);
      return accounts.changePassword({
        userId: ada.id,
        current: wrong,
        password: next,
        keepSessionId: 1,
        revokesTokens: true,
        client,
      });
    });
    await Promise.allSettled(guesses);
    expect(checks()).toBe(10);
    await expect(accounts.checkPassword(ada.id, password, client)).rejects.toMatchObject(refusal);
    expect(await accounts.checkPassword(ada.id, password, clientAt("elsewhere"))).toBe(true);
  });
});

describe("changePassword", () => {
  it("ends all other sessions and notifies the owner", async () => {
    const fixture = makeTestAccounts();
    const { accounts } = fixture;
    const ada = await makeUser(accounts);
    const [mine, other] = [await signIn(fixture), await signIn(fixture)];
    const before = await emails(fixture);
    const change = {
      userId: ada.id,
      current: password,
      password: next,
      keepSessionId: mine.id,
      revokesTokens: true,
      client,
    };
    expect(await accounts.changePassword(change)).toBe("changed");
    expect(await accounts.authenticateSession(mine.token)).toBeDefined();
    expect(await accounts.authenticateSession(other.token)).toBeUndefined();
    expect(await emails(fixture)).toBe(before + 1);
    expect(await accounts.signIn({ email, password, client })).toBeUndefined();
    expect(await accounts.signIn({ email, password: next, client })).toBeDefined();
  });

  it.each([
    [true, ["another's"]],
    [false, ["mine", "another's"]],
  ])("revokes the user's API tokens if asked to: %s", async (revokesTokens, left) => {
    const fixture = makeTestAccounts();
    const { accounts } = fixture;
    const ada = await makeUser(accounts);
    const eve = await makeUser(accounts, "eve@example.com");
    const mine = await accounts.createToken(ada.id, "mine");
    const anothers = await accounts.createToken(eve.id, "another's");
    const { id: keepSessionId } = await signIn(fixture);
    const change = { userId: ada.id, current: password, password: next, keepSessionId, revokesTokens, client };
    expect(await accounts.changePassword({ ...change, current: next })).toBe("wrong_password");
    const accepted = async () => [
      ...((await accounts.authenticateToken({ token: mine.token, address: "" })) ? ["mine"] : []),
      ...((await accounts.authenticateToken({ token: anothers.token, address: "" })) ? ["another's"] : []),
    ];
    expect(await accepted()).toEqual(["mine", "another's"]);
    expect(await accounts.changePassword(change)).toBe("changed");
    expect(await accepted()).toEqual(left);
  });

  it("changes nothing for a wrong or a weak password", async () => {
    const fixture = makeTestAccounts();
    const ada = await makeUser(fixture.accounts);
    const { id, token } = await signIn(fixture);
    const other = await signIn(fixture);
    const change = (current: string, to: string) =>
      fixture.accounts.changePassword({
        userId: ada.id,
        current,
        password: to,
        keepSessionId: id,
        revokesTokens: true,
        client,
      });
    expect(await change(next, next)).toBe("wrong_password");
    expect(await change("", next)).toBe("wrong_password");
    expect(await change(password, "short")).toBe("password_length");
    expect(await change(password, "password1234")).toBe("password_common");
    expect(await change(password, email)).toBe("password_email");
    expect(await fixture.accounts.authenticateSession(token)).toBeDefined();
    expect(await fixture.accounts.authenticateSession(other.token)).toBeDefined();
  });

  it("lets one of many simultaneous changes succeed", async () => {
    const fixture = makeTestAccounts();
    const ada = await makeUser(fixture.accounts);
    const { id } = await signIn(fixture);
    const outcomes = await Promise.all(
      ["one", "two", "three"].map((word) =>
        fixture.accounts.changePassword({
          userId: ada.id,
          current: password,
          password: `${next}-${word}`,
          keepSessionId: id,
          revokesTokens: true,
          client,
        }),
      ),
    );
    expect(outcomes.toSorted()).toEqual(["changed", "wrong_password", "wrong_password"]);
  });

  it("sets a first password only in a fresh session of the user", async () => {
    const fixture = makeTestAccounts();
    const { accounts } = fixture;
    const ada = await makeUser(accounts);
    const eve = await makeUser(accounts, "eve@example.com");
    const evesSession = await accounts.signIn({ email: "eve@example.com", password, client });
    const eves = await accounts.authenticateSession(evesSession?.sessionToken ?? "");
    const { id } = await signIn(fixture);
    await fixture.setPasswordHash("", ada.id);
    const change = (keepSessionId: number, current = "") =>
      accounts.changePassword({ userId: ada.id, current, password: next, keepSessionId, revokesTokens: true, client });
    expect(eves?.user.id).toBe(eve.id);
    expect(await change(eves?.id ?? 0)).toBe("sign_in_again");
    expect(await change(id, password)).toBe("wrong_password");
    fixture.advance(10 * minuteMs);
    expect(await change(id)).toBe("sign_in_again");
    fixture.advance(-1);
    expect(await change(id)).toBe("changed");
    expect(await change(id)).toBe("wrong_password");
  });
});

describe("setPassword", () => {
  it("ends all sessions", async () => {
    const fixture = makeTestAccounts();
    const ada = await makeUser(fixture.accounts);
    const { token } = await signIn(fixture);
    expect(await fixture.accounts.setPassword(ada.id, "password1234")).toBe("password_common");
    expect(await fixture.accounts.setPassword(ada.id + 1, next)).toBe("unknown_user");
    const failing = () => Promise.reject(new Error("cannot be written"));
    await expect(fixture.accounts.setPassword(ada.id, next, failing)).rejects.toThrow("cannot be written");
    expect(await fixture.accounts.authenticateSession(token)).toBeDefined();
    expect(await fixture.accounts.setPassword(ada.id, next)).toBe("changed");
    expect(await fixture.accounts.authenticateSession(token)).toBeUndefined();
    await signIn(fixture, next);
  });
});

describe("a sign-in in progress", () => {
  it("starts no session when the password was changed meanwhile", async () => {
    const checked = Promise.withResolvers<void>();
    const resume = Promise.withResolvers<void>();
    let held = false;
    const fixture = makeTestAccounts({
      argon2: {
        hashPassword: async (text) => `plain:${text}`,
        verifyPassword: async (stored, text) => {
          if (held) {
            checked.resolve();
            await resume.promise;
          }
          return stored === `plain:${text}`;
        },
      },
    });
    const ada = await makeUser(fixture.accounts);
    held = true;
    const signingIn = fixture.accounts.signIn({ email, password, client });
    await checked.promise;
    expect(await fixture.accounts.setPassword(ada.id, next)).toBe("changed");
    resume.resolve();
    expect(await signingIn).toBeUndefined();
    expect(await fixture.accounts.listSessions(ada.id)).toEqual([]);
  });
});

describe("a hash with the parameters of an earlier version", () => {
  it("signs its owner in and is replaced by one with today's", async () => {
    const argon2 = createArgon2Queue({ runningMax: 1, waitingMax: 40, waitingPerClientMax: 40 });
    const fixture = makeTestAccounts({ argon2 });
    await makeUser(fixture.accounts);
    // Parameter set 1, of the password "password".
    await setHash(fixture, "argon2id:1:c29tZXNhbHQ:PL01amPyeUuxG7H0vIr5X+qHkZvWnHmGBGXFYvh8z2E");
    expect(await fixture.accounts.signIn({ email, password, client })).toBeUndefined();
    expect(await hashOf(fixture)).toMatch(/^argon2id:1:/);
    await signIn(fixture, "password");
    expect(await hashOf(fixture)).toMatch(new RegExp(`^argon2id:${userSet}:`));
    await signIn(fixture, "password");
  });
});

describe("an imported bcrypt hash", () => {
  const imported = "$2a$12$P2LGMOxYOg98MBraDDXIk.FfynaKP38lvIIQZTkDjwasnw55JPabu";
  const itsPassword = "Größe-пароль-2026";

  it("signs its owner in and is replaced by Argon2id", async () => {
    const fixture = makeTestAccounts({
      argon2: createArgon2Queue({ runningMax: 1, waitingMax: 40, waitingPerClientMax: 40 }),
    });
    const ada = await makeUser(fixture.accounts);
    await setHash(fixture, imported);
    expect(await fixture.accounts.signIn({ email, password, client })).toBeUndefined();
    expect(await hashOf(fixture)).toBe(imported);
    expect(await fixture.accounts.checkPassword(ada.id, itsPassword, client)).toBe(true);
    expect(await hashOf(fixture)).toBe(imported);
    await signIn(fixture, itsPassword);
    expect(await hashOf(fixture)).toMatch(new RegExp(`^argon2id:${userSet}:`));
    await signIn(fixture, itsPassword);
  });

  it("is not replaced if bcrypt has only checked the beginning of the password", async () => {
    const fixture = makeTestAccounts({
      argon2: createArgon2Queue({ runningMax: 1, waitingMax: 40, waitingPerClientMax: 40 }),
    });
    await makeUser(fixture.accounts);
    const long = "a password longer than bcrypt reads ".repeat(3);
    const stored = await bcrypt.hash(long, 4);
    await setHash(fixture, stored);
    await signIn(fixture, `${long} with a slip`);
    expect(await hashOf(fixture)).toBe(stored);
    await signIn(fixture, long);
  });

  it("is not replaced if the password was changed meanwhile", async () => {
    const hashing = Promise.withResolvers<void>();
    const resume = Promise.withResolvers<void>();
    let held = false;
    const fixture = makeTestAccounts({
      argon2: {
        hashPassword: async (text) => {
          if (held) {
            held = false;
            hashing.resolve();
            await resume.promise;
          }
          return `plain:${text}`;
        },
        verifyPassword: async (stored, text) => stored === imported && text === itsPassword,
      },
    });
    const ada = await makeUser(fixture.accounts);
    await setHash(fixture, imported);
    held = true;
    const signingIn = fixture.accounts.signIn({ email, password: itsPassword, client });
    await hashing.promise;
    expect(await fixture.accounts.setPassword(ada.id, next)).toBe("changed");
    resume.resolve();
    expect(await signingIn).toBeUndefined();
    expect(await hashOf(fixture)).toBe(`plain:${next}`);
  });
});
