import { describe, expect, it } from "vitest";
import { clientAt, makeTestAccounts, makeUser, password, startOfTests } from "../../../test/support/accounts.ts";
import { readRows } from "../../../test/support/engine-database.ts";
import { userSet } from "../../crypto/argon2-costs.ts";
import { createArgon2Queue } from "../../crypto/passphrase.ts";

/** A text of `count` different characters, in steps that form no sequence of a keyboard or alphabet. */
function distinct(count: number, first = 0x3b1): string {
  return String.fromCodePoint(...Array.from({ length: count }, (_, at) => first + at));
}

describe("createUser", () => {
  it("creates users that are found by any spelling of their address", async () => {
    const { accounts } = makeTestAccounts();
    const ada = await accounts.createUser({ email: " Ada@Example.com ", password, admin: true });
    expect(ada).toMatchObject({ email: "ada@example.com", admin: true, createdAt: startOfTests });
    expect(await accounts.findUserByEmail("ADA@example.com")).toEqual(ada);
    expect(await accounts.findUserByEmail("eve@example.com")).toBeUndefined();
    expect(await accounts.findUserByEmail("not an address")).toBeUndefined();
  });

  it("refuses a taken address, also when two requests race for it", async () => {
    const { accounts } = makeTestAccounts();
    const outcomes = await Promise.allSettled([makeUser(accounts), makeUser(accounts, "ADA@example.com")]);
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(["fulfilled", "rejected"]);
    await expect(makeUser(accounts)).rejects.toMatchObject({
      code: "invalid_fields",
      fields: { email: ["This email address is taken."] },
    });
  });

  it("creates no user when the other write of the transaction fails", async () => {
    const { accounts } = makeTestAccounts();
    const request = { email: "ada@example.com", password, admin: false };
    const failing = () => () => Promise.reject(new Error("cannot be written"));
    await expect(accounts.createUser(request, failing)).rejects.toThrow("cannot be written");
    expect(await accounts.findUserByEmail(request.email)).toBeUndefined();
  });

  it("reports all problems at once", async () => {
    const { accounts } = makeTestAccounts();
    await expect(accounts.createUser({ email: "ada", password: "short", admin: false })).rejects.toMatchObject({
      fields: {
        email: ["This is not an email address."],
        password: ["A password has 12 to 1024 characters."],
      },
    });
  });

  it.each([
    ["11 characters", distinct(11), false],
    ["12 characters", distinct(12), true],
    ["11 characters outside the first plane", distinct(11, 0x1f600), false],
    ["1024 characters outside the first plane", distinct(1_024, 0x20000), true],
    ["1025 characters", distinct(1_025, 0x4e00), false],
    ["a lone surrogate", `${distinct(20)}\ud800`, false],
  ])("counts a password in code points: %s", async (_, candidate, fits) => {
    const { accounts } = makeTestAccounts();
    const making = accounts.createUser({ email: "ada@example.com", password: candidate, admin: false });
    if (fits) await expect(making).resolves.toMatchObject({ email: "ada@example.com" });
    else await expect(making).rejects.toMatchObject({ code: "invalid_fields" });
  });

  it("stores an Argon2id hash and no password", async () => {
    const argon2 = createArgon2Queue({ runningMax: 1, waitingMax: 40, waitingPerClientMax: 40 });
    const { accounts, db, passwordHashes } = makeTestAccounts({ argon2 });
    await makeUser(accounts);
    const [row] = await readRows(db, "SELECT * FROM users");
    expect(await passwordHashes()).toEqual([
      expect.stringMatching(new RegExp(`^argon2id:${userSet}:[\\w+/]{22}:[\\w+/]{43}$`)),
    ]);
    expect(JSON.stringify(row)).not.toContain("argon2id");
    expect(JSON.stringify(row)).not.toContain(password);
    await expect(accounts.signIn({ email: "ada@example.com", password, client: clientAt("c") })).resolves.toBeDefined();
  });
});
