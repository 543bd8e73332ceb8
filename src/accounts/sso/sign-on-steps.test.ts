import { describe, expect, it } from "vitest";
import { makeTestAccounts } from "../../../test/support/accounts.ts";
import { changeRows } from "../../../test/support/engine-database.ts";
import { minuteMs } from "../../base/clock.ts";
import { systemRandom } from "../../base/random.ts";
import { digest } from "../../crypto/digests.ts";
import { createKeyring } from "../../crypto/keyring.ts";
import { createSignOnStepStore } from "../store/sign-on-steps.ts";
import { createSignOnSteps, type SignOnStep } from "./sign-on-steps.ts";

const secrets = { state: "s", nonce: "n", verifier: "v" };
const onTheWay: SignOnStep = { is: "on_the_way", secrets, next: "/p", linkTo: 7, proves: 5, persistent: true };
const toConfirm: SignOnStep = {
  is: "to_confirm",
  issuer: "https://id.example.com",
  subject: "a-1",
  email: "ada@example.com",
  userId: 7,
  groups: ["staff"],
  next: null,
  persistent: true,
  providerSession: { issuer: "https://id.example.com", subject: "a-1", sid: "s-1", issuedAt: 3 },
  mailedDigest: null,
  createdAt: 5,
};

function open() {
  const { db, access } = makeTestAccounts();
  const keyring = createKeyring([Buffer.alloc(32, 7)], systemRandom);
  const store = createSignOnStepStore(db);
  const steps = createSignOnSteps({ store, access, keyring: () => keyring, random: systemRandom });
  return { db, store, steps, digestOf: (token: string) => access.digest("sign_on_step", token) };
}

describe("a sign-on step", () => {
  it.each([onTheWay, toConfirm])("can be read unchanged for ten minutes: $is", async (step) => {
    const { steps } = open();
    const token = await steps.keep(step, "client", 1_000);
    expect(await steps.find(token, 1_000)).toEqual(step);
    expect(await steps.find(token, 1_000 + 10 * minuteMs - 1)).toEqual(step);
    expect(await steps.find(token, 1_000 + 10 * minuteMs)).toBeUndefined();
    for (const other of [undefined, "", "x".repeat(43), `${token}x`])
      expect(await steps.find(other, 1_000)).toBeUndefined();
  });

  it("can be taken only once", async () => {
    const { db, steps } = open();
    const token = await steps.keep(onTheWay, "client", 0);
    const taken = await Promise.all(
      Array.from({ length: 20 }, () => steps.take(db.autocommit({ retry: "whenNotExecuted" }), token, 0)),
    );
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await steps.find(token, 0)).toBeUndefined();
  });

  it("cannot be opened with another token, and is not readable in the database", async () => {
    const { db, steps, store, digestOf } = open();
    const mine = await steps.keep(onTheWay, "client", 0);
    const other = await steps.keep(toConfirm, "client", 0);
    const sealed = (await store.findStep(digestOf(other), -1)) ?? Buffer.alloc(0);
    expect(sealed.toString("latin1")).not.toContain("ada@example.com");
    await changeRows(db, "UPDATE sign_on_steps SET step_sealed = ? WHERE digest = ?", sealed, digestOf(mine));
    expect(await steps.find(mine, 0)).toBeUndefined();
  });
});

describe("a flood of sign-ons", () => {
  const limits = { since: -1, perClientMax: 3, stepsMax: 5 };
  const step = (name: string, client: string, now: number) => ({
    digest: digest(name),
    sealed: Buffer.alloc(1),
    client,
    now,
  });

  it("only displaces the steps of the same client", async () => {
    const { store } = open();
    await store.insertStep(step("victim", "192.0.2.1", 0), limits);
    for (let at = 0; at < 10; at += 1) await store.insertStep(step(`flood ${at}`, "192.0.2.2", at), limits);
    expect(await store.findStep(digest("victim"), -1)).toBeDefined();
    expect(await store.findStep(digest("flood 6"), -1)).toBeUndefined();
    expect(await store.findStep(digest("flood 7"), -1)).toBeDefined();
  });

  it("from one IPv6 /48 only displaces steps that began there", async () => {
    const { store } = open();
    const wide = { ...limits, stepsMax: 9 };
    const victims = ["192.0.2.1", "2001:db8:10:0::/64", "2001:db8:2:0::/64"];
    for (const [at, victim] of victims.entries()) await store.insertStep(step(`victim ${at}`, victim, 0), wide);
    for (let at = 0; at < 20; at += 1) {
      const client = `2001:db8:1:${at.toString(16)}::/64`;
      expect(await store.insertStep(step(`flood ${at}`, client, at), wide)).toBe(true);
    }
    for (const at of victims.keys()) expect(await store.findStep(digest(`victim ${at}`), -1)).toBeDefined();
    expect(await store.findStep(digest("flood 13"), -1)).toBeUndefined();
    expect(await store.findStep(digest("flood 14"), -1)).toBeDefined();
  });

  it("from many clients is refused at the limit, and does not displace other steps", async () => {
    const { store } = open();
    await store.insertStep(step("victim", "192.0.2.1", 0), limits);
    const kept = [];
    for (let at = 0; at < 10; at += 1) kept.push(await store.insertStep(step(`${at}`, `198.51.100.${at}`, at), limits));
    expect(kept.filter(Boolean)).toHaveLength(4);
    expect(await store.findStep(digest("victim"), -1)).toBeDefined();
    // Expired steps free their slots.
    expect(await store.insertStep(step("later", "203.0.113.1", 100), { ...limits, since: 50 })).toBe(true);
    expect(await store.deleteStepsBefore(100, 10)).toBe(1);
  });
});
