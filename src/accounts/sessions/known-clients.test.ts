import { describe, expect, it } from "vitest";
import {
  addUnusablePasskey,
  makeTestAccounts,
  makeUser,
  openSettings,
  password,
} from "../../../test/support/accounts.ts";
import { readRows } from "../../../test/support/engine-database.ts";
import { createRecordingOutbox } from "../../../test/support/recording-outbox.ts";
import { systemRandom } from "../../base/random.ts";
import { createKeyring } from "../../crypto/keyring.ts";
import type { Accounts, ClientContext } from "../accounts.ts";

const firefox = (version: number, system = "X11; Linux x86_64") =>
  `Mozilla/5.0 (${system}; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`;
const home: ClientContext = { throttleKey: "192.0.2.1", address: "192.0.2.1", userAgent: firefox(140) };

/** Accounts whose emails are collected in a list. */
function makeFixture() {
  const { outbox, emails } = createRecordingOutbox();
  const fixture = makeTestAccounts({
    settings: openSettings,
    outbox,
    keyring: () => createKeyring([Buffer.alloc(32, 7)], systemRandom),
  });
  return { ...fixture, emails };
}

async function enter(accounts: Accounts, client: ClientContext): Promise<void> {
  const signedIn = await accounts.signIn({ email: "ada@example.com", password, client });
  if (signedIn === undefined) throw new Error("Not signed in.");
}

describe("known clients", () => {
  it("cause an email when they are new, except for an account's first one", async () => {
    const { accounts, emails } = makeFixture();
    await makeUser(accounts);
    await enter(accounts, home);
    expect(emails).toEqual([]);
    const away = { throttleKey: "198.51.100.9", address: "198.51.100.9", userAgent: firefox(140) };
    await enter(accounts, away);
    expect(emails).toMatchObject([
      {
        to: "ada@example.com",
        content: {
          kind: "account_notification",
          change: "new_client",
          address: "198.51.100.9",
          userAgent: firefox(140),
        },
      },
    ]);
    await enter(accounts, away);
    await enter(accounts, home);
    expect(emails).toHaveLength(1);
  });

  it("are a network and a browser: a new version is the same client, another system is not", async () => {
    const { accounts, emails } = makeFixture();
    await makeUser(accounts);
    await enter(accounts, home);
    await enter(accounts, { ...home, userAgent: firefox(141) });
    // Another address of the same /64 network.
    await enter(accounts, { ...home, address: "192.0.2.1 (another)" });
    expect(emails).toEqual([]);
    await enter(accounts, { ...home, userAgent: firefox(141, "Windows NT 10.0; Win64; x64") });
    await enter(accounts, { ...home, userAgent: "" });
    expect(emails).toHaveLength(2);
  });

  it("are not remembered for a wrong password, nor before the second factor", async () => {
    const { accounts, emails, ...domain } = makeFixture();
    const ada = await makeUser(accounts);
    await enter(accounts, home);
    await addUnusablePasskey(domain, ada);
    const away = { ...home, throttleKey: "198.51.100.9" };
    await enter(accounts, away);
    expect(await accounts.signIn({ email: "ada@example.com", password: "wrong", client: away })).toBeUndefined();
    expect(emails).toEqual([]);
  });

  it("are at most 50 per user: those seen longest ago are forgotten", async () => {
    const { accounts, emails, db, advance } = makeFixture();
    await makeUser(accounts);
    for (let at = 0; at < 60; at += 1) {
      await enter(accounts, { ...home, throttleKey: `192.0.2.${at}` });
      advance(1);
    }
    expect(await readRows(db, "SELECT digest FROM known_clients")).toHaveLength(50);
    const before = emails.length;
    await enter(accounts, { ...home, throttleKey: "192.0.2.59" });
    expect(emails).toHaveLength(before);
    await enter(accounts, { ...home, throttleKey: "192.0.2.0" });
    expect(emails).toHaveLength(before + 1);
  });
});
