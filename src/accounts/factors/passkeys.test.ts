import { describe, expect, test } from "vitest";
import { changeUsers } from "../../../test/support/access-rows.ts";
import { makeUser, openSettings, password } from "../../../test/support/accounts.ts";
import { TestAuthenticator } from "../../../test/support/authenticator.ts";
import { addPasskey, changeBy, client, openFactorFixture, party, signInAs } from "../../../test/support/factors.ts";
import { minuteMs } from "../../base/clock.ts";
import { passkeyNameCharactersMax } from "../accounts.ts";

describe("adding a passkey", () => {
  test.each([
    ["no name", "  "],
    ["a control character", "a\nb"],
    ["too much", "x".repeat(passkeyNameCharactersMax + 1)],
  ])("refuses a name that is %s", async (_case, name) => {
    const { accounts, signIn } = await openFactorFixture();
    const { session } = await signIn();
    const answer = new TestAuthenticator().create(await accounts.offerPasskey(session, party));
    expect((await accounts.addPasskey(changeBy(session), { name, answer, party })).outcome).toBe("bad_name");
  });

  test("accepts a credential only once, from any user", async () => {
    const { accounts, signIn, fixture } = await openFactorFixture();
    const { session } = await signIn();
    const authenticator = new TestAuthenticator();
    const answer = authenticator.create(await accounts.offerPasskey(session, party));
    const add = (by = session, with_ = answer) =>
      accounts.addPasskey(changeBy(by, password), { name: "x", answer: with_, party });
    expect((await add()).outcome).toBe("added");
    expect((await add()).outcome).toBe("bad_passkey");
    await makeUser(accounts, "eve@example.com");
    const eve = await signInAs(fixture, "eve@example.com", password);
    const again = authenticator.create(await accounts.offerPasskey(eve.session, party));
    expect((await add(eve.session, again)).outcome).toBe("bad_passkey");
  });

  test("accepts only responses for this session and this site", async () => {
    const { accounts, signIn } = await openFactorFixture();
    const [one, two] = [await signIn(), await signIn()];
    const options = await accounts.offerPasskey(one.session, party);
    const add = (session: typeof one.session, answer: string) =>
      accounts.addPasskey(changeBy(session), { name: "x", answer, party });
    expect((await add(two.session, new TestAuthenticator().create(options))).outcome).toBe("bad_passkey");
    expect((await add(one.session, new TestAuthenticator("https://evil.example").create(options))).outcome).toBe(
      "bad_passkey",
    );
    expect((await add(one.session, new TestAuthenticator().create(options))).outcome).toBe("added");
  });

  test("accepts no certificates, which could contain URLs for this server to request", async () => {
    const { accounts, signIn } = await openFactorFixture();
    const { session } = await signIn();
    const add = async (attests: "self" | "certificate") => {
      const answer = new TestAuthenticator().create(await accounts.offerPasskey(session, party), { attests });
      return (await accounts.addPasskey(changeBy(session), { name: "x", answer, party })).outcome;
    };
    expect([await add("certificate"), await add("self")]).toEqual(["bad_passkey", "added"]);
  });

  test("stops at twenty", async () => {
    const { accounts, signIn, fixture } = await openFactorFixture();
    const { session } = await signIn();
    for (let at = 0; at < 20; at += 1) await addPasskey(fixture, session, `key ${at}`, password);
    const answer = new TestAuthenticator().create(await accounts.offerPasskey(session, party));
    const added = await accounts.addPasskey(changeBy(session, password), { name: "x", answer, party });
    expect(added.outcome).toBe("too_many_passkeys");
  });

  test("keeps personal data out of the user handle", async () => {
    const { accounts, signIn } = await openFactorFixture();
    const options = await accounts.offerPasskey((await signIn()).session, party);
    expect(Buffer.from(options.user.id, "base64url").toString()).not.toContain("ada");
    expect(options.authenticatorSelection).toMatchObject({ residentKey: "preferred" });
    expect(options.attestation).toBe("none");
  });
});

describe("a passkey", () => {
  test("can be used only once per challenge", async () => {
    const { accounts, signIn, fixture } = await openFactorFixture();
    const { authenticator } = await addPasskey(fixture, (await signIn()).session, "laptop");
    const waiting = await signIn();
    const answer = authenticator.get(await accounts.offerOwnPasskeys(waiting.session, party));
    const given = await Promise.all(
      [1, 2, 3].map(() => accounts.givePasskey({ ...waiting, client }, { answer, party })),
    );
    // A late request finds the response used; the others find that the sign-in has ended.
    expect(given.filter(({ outcome }) => outcome === "complete")).toHaveLength(1);

    const alone = authenticator.get(await accounts.offerAnyPasskey(party));
    const signedIn = await Promise.all([1, 2, 3].map(() => accounts.signInByPasskey({ answer: alone, party }, client)));
    expect(signedIn.filter((each) => each !== undefined)).toHaveLength(1);
    expect(await accounts.signInByPasskey({ answer: alone, party }, client)).toBeUndefined();
  });

  test("signs in alone only with user verification", async () => {
    const { accounts, signIn, fixture } = await openFactorFixture();
    const { authenticator } = await addPasskey(fixture, (await signIn()).session, "laptop");
    const unsure = authenticator.get(await accounts.offerAnyPasskey(party), { verifiesUser: false });
    expect(await accounts.signInByPasskey({ answer: unsure, party }, client)).toBeUndefined();
    const sure = authenticator.get(await accounts.offerAnyPasskey(party));
    const signedIn = await accounts.signInByPasskey({ answer: sure, party }, client);
    expect(await accounts.authenticateSession(signedIn?.sessionToken ?? "")).toMatchObject({ waitsForFactor: false });
    // As a second factor it is used together with the password.
    const waiting = await signIn();
    const second = authenticator.get(await accounts.offerOwnPasskeys(waiting.session, party), { verifiesUser: false });
    expect((await accounts.givePasskey({ ...waiting, client }, { answer: second, party })).outcome).toBe("complete");
  });

  test.each([
    ["another site", { origin: "https://evil.example" }],
    ["a copy whose counter has fallen behind", { counter: 1 }],
  ])("is refused from %s", async (_case, use) => {
    const { accounts, signIn, fixture } = await openFactorFixture();
    const { authenticator } = await addPasskey(fixture, (await signIn()).session, "laptop");
    const first = authenticator.get(await accounts.offerAnyPasskey(party));
    expect(await accounts.signInByPasskey({ answer: first, party }, client)).toBeDefined();
    const answer = authenticator.get(await accounts.offerAnyPasskey(party), use);
    expect(await accounts.signInByPasskey({ answer, party }, client)).toBeUndefined();
  });

  test("keeps working if its authenticator has no counter", async () => {
    const { accounts, signIn, fixture } = await openFactorFixture();
    const { session } = await signIn();
    const authenticator = new TestAuthenticator();
    const made = authenticator.create(await accounts.offerPasskey(session, party), { counter: 0 });
    await accounts.addPasskey(changeBy(session), { name: "synced", answer: made, party });
    for (let use = 0; use < 2; use += 1) {
      const answer = authenticator.get(await fixture.accounts.offerAnyPasskey(party), { counter: 0 });
      expect(await accounts.signInByPasskey({ answer, party }, client)).toBeDefined();
    }
  });

  test("is refused for another purpose, in another session and after five minutes", async () => {
    const { accounts, signIn, fixture, advance } = await openFactorFixture();
    const { session } = await signIn();
    const { authenticator } = await addPasskey(fixture, session, "laptop");
    const [one, two] = [await signIn(), await signIn()];
    const forOne = authenticator.get(await accounts.offerOwnPasskeys(one.session, party));
    expect((await accounts.givePasskey({ ...two, client }, { answer: forOne, party })).outcome).toBe("wrong");
    expect(await accounts.signInByPasskey({ answer: forOne, party }, client)).toBeUndefined();
    const forAnybody = authenticator.get(await accounts.offerAnyPasskey(party));
    expect((await accounts.givePasskey({ ...one, client }, { answer: forAnybody, party })).outcome).toBe("wrong");
    advance(5 * minuteMs);
    expect(await accounts.signInByPasskey({ answer: forAnybody, party }, client)).toBeUndefined();
  });

  test("is not accepted as the second factor of another user", async () => {
    const { accounts, signIn, fixture } = await openFactorFixture();
    await addPasskey(fixture, (await signIn()).session, "mine");
    await makeUser(accounts, "eve@example.com");
    const eve = await signInAs(fixture, "eve@example.com", password);
    const { authenticator } = await addPasskey(fixture, eve.session, "hers");
    const waiting = await signIn();
    const answer = authenticator.get(await accounts.offerOwnPasskeys(waiting.session, party));
    expect((await accounts.givePasskey({ ...waiting, client }, { answer, party })).outcome).toBe("wrong");
  });

  test("does not sign in a disabled or unconfirmed account, nor when sign-in is disabled", async () => {
    const { accounts, db, access, signIn, fixture } = await openFactorFixture();
    const { authenticator } = await addPasskey(fixture, (await signIn()).session, "laptop");
    const attempt = async () => {
      const answer = authenticator.get(await accounts.offerAnyPasskey(party));
      return accounts.signInByPasskey({ answer, party }, client);
    };
    await changeUsers({ db, access }, { disabledAt: 1 });
    expect(await attempt()).toBeUndefined();
    await changeUsers({ db, access }, { disabledAt: null, confirmedAt: null });
    expect(await attempt()).toBeUndefined();
    const closed = await openFactorFixture({ settings: { ...openSettings, loginsDisabled: true } });
    expect(await closed.accounts.signInByPasskey({ answer: "{}", party }, client)).toBeUndefined();
  });

  test("is refused if its response is malformed", async () => {
    const { accounts, signIn, fixture } = await openFactorFixture();
    const { session } = await signIn();
    const { authenticator } = await addPasskey(fixture, session, "laptop");
    const right = authenticator.get(await accounts.offerAnyPasskey(party));
    const broken = [
      "",
      "null",
      "[]",
      "{}",
      '"x"',
      "{",
      "x".repeat(40_000),
      right.replace('"signature":"', '"signature":"A'),
      right.replace('"type":"public-key"', '"type":"password"'),
      right.replace(/"clientDataJSON":"[^"]*"/, '"clientDataJSON":"bm90IGpzb24"'),
      right.replace(/"authenticatorData":"[^"]*"/, '"authenticatorData":"AAAA"'),
      right.replace(/"userHandle":"[^"]*"/, '"userHandle":"c2VhbHB1c2g6OTk"'),
      right.replace(/"id":"[^"]*"/, '"id":"!!!"'),
    ];
    for (const answer of broken) {
      expect(await accounts.signInByPasskey({ answer, party }, client)).toBeUndefined();
      const added = await accounts.addPasskey(changeBy(session, password), { name: "x", answer, party });
      expect(added.outcome).toBe("bad_passkey");
    }
    expect(await accounts.signInByPasskey({ answer: right, party }, client)).toBeDefined();
  });
});
