import { describe, expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import type { AuditEntry } from "../push.ts";
import { auditEntriesMax, auditRecord, cleanReferrer, folds } from "./audit-trail.ts";

const own = "https://push.example.com";

describe("a referrer", () => {
  test.each([
    ["", ""],
    ["https://user:secret@wiki.example.org/a", "https://wiki.example.org/a"],
  ])("%j is kept as %j", (referrer, kept) => {
    expect(cleanReferrer(referrer, own)).toBe(kept);
  });

  test.each([
    "https://mail.example.org/inbox",
    "https://mail.example.org/inbox?x=1",
    "https://mail.example.org/#inbox",
    "https://example.org",
    "http://wiki.example.org:8080/page/two",
    "https://wiki.example.org/2026-how-to-share-passwords-safely",
    "https://wiki.example.org/a%2Fb?q=%zz",
    "android-app://com.slack",
    "android-app://com.google.android.gm/",
    "about:client",
    "not an address",
  ])("%j is kept as sent", (referrer) => {
    expect(cleanReferrer(referrer, own)).toBe(referrer);
  });

  test.each([
    `${own}/`,
    `${own}/p/abc`,
    `${own}/p/abc/r?locale=de#x`,
    `${own}:443/p/abc`,
    "HTTPS://PUSH.EXAMPLE.COM/p/abc",
    "https://user:secret@push.example.com/p/abc",
  ])("%j of this server is kept as the origin", (referrer) => {
    expect(cleanReferrer(referrer, own)).toBe(own);
  });

  test.each([
    // Another host name of this server, another server of the same kind, a chat message with the link.
    "https://other.example/p/fkwjfvhall92",
    "https://other.example/en/p/fkwjfvhall92/r",
    "https://other.example/f/abc",
    "https://other.example/r/abc",
    "https://other.example/s/0123456789abcdefg",
    "https://other.example/0123456789abcdef",
    "https://other.example/?url=https%3A%2F%2Fpush.example.com%2Fp%2Fabc",
    "https://other.example/?url=https%253A%252F%252Fpush.example.com%252Fp%252Fabc&x=1",
    "https://other.example/#/p/abc",
    "https://other.example/secret/a-b_c-d_e-f_g-h_i",
    "https://other.example/P/ABCDEFGHIJ",
  ])("%j is shaped like a secret link, and kept as the origin", (referrer) => {
    expect(cleanReferrer(referrer, own)).toBe("https://other.example");
  });

  test("this server's url_tokens are never stored in a referrer", () => {
    const token = "0a1b2c3d4e5f6g7h8j9k0mnpqr";
    for (const referrer of [
      `https://other.example/${token}`,
      `https://other.example/a?${token}`,
      `https://other.example/a#${token}`,
      `https://${token}@other.example/`,
      `https://other.example/a/${token.toUpperCase()}/b`,
      `android-app://${token}/`,
      `https://other.example\\p\\${token}`,
      `/p/${token}`,
      token,
    ]) {
      expect(cleanReferrer(referrer, own).toLowerCase()).not.toContain(token);
    }
  });
});

test("the user agent and the referrer are cut at 255 characters, never within a surrogate pair", () => {
  const wide = "\u{1F511}";
  const record = (text: string) =>
    auditRecord("view", { ...stranger, userAgent: text, referrer: `https://example.org/${"a/".repeat(400)}` }, 0);
  expect(record("a".repeat(255)).userAgent).toBe("a".repeat(255));
  expect(record("a".repeat(256)).userAgent).toBe("a".repeat(255));
  expect(record(wide.repeat(255)).userAgent).toBe(wide.repeat(255));
  expect(record(wide.repeat(300)).userAgent).toBe(wide.repeat(255));
  // An odd number of transactions before the pairs, so that the first cut falls into the middle of one.
  expect(record(`a${wide.repeat(300)}`).userAgent).toBe(`a${wide.repeat(254)}`);
  expect([...record(`a${wide.repeat(300)}`).userAgent]).toHaveLength(255);
  expect(record("x").referrer).toHaveLength(255);
  const long = { ...stranger, referrer: `https://example.org/${"a".repeat(400)}` };
  expect(auditRecord("view", long, 0).referrer).toBe(`https://example.org/${"a".repeat(235)}`);
});

test("only kinds that any visitor can repeat are folded, and only beyond the limit", () => {
  for (const kind of ["failed_view", "failed_passphrase", "owner_view", "admin_view", "download"] as const) {
    expect([folds(kind, auditEntriesMax), folds(kind, auditEntriesMax + 1)]).toEqual([false, true]);
  }
  for (const kind of ["creation", "view", "expire", "edit", "creation_email_send"] as const) {
    expect(folds(kind, auditEntriesMax + 1)).toBe(false);
  }
});

describe("thousands of refusals", () => {
  const owner = signedIn(7);

  async function wholeTrail(fixture: TestDomain, urlToken: string): Promise<AuditEntry[]> {
    const entries: AuditEntry[] = [];
    for (let page = 1; ; page += 1) {
      const found = await fixture.domain.pushes.audit(urlToken, owner, page);
      entries.push(...found);
      if (found.length < 50) return entries;
    }
  }

  async function refuse(fixture: TestDomain, urlToken: string, times: number): Promise<void> {
    const ask = (ask: number) =>
      fixture.domain.pushes.claimView(urlToken, countEveryone, {
        ...stranger,
        userAgent: `agent ${ask}`,
        address: "198.51.100.9",
      });
    for (let asked = 0; asked < times; asked += 500) {
      await Promise.all(Array.from({ length: 500 }, (_, index) => ask(asked + index)));
    }
  }

  test("never end a push, never displace earlier entries, and stay bounded", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const made = { payload: "x", passphrase: "open sesame", expireAfterViews: 1 };
    const { urlToken } = await pushes.create(made, owner);
    fixture.clock.advance(1_000);
    await refuse(fixture, urlToken, 4_000);
    const trail = await wholeTrail(fixture, urlToken);
    expect(trail).toHaveLength(auditEntriesMax + 1);
    expect(trail[0]?.kind).toBe("creation");
    const folded = trail.filter((entry) => entry.times > 1);
    expect(folded).toMatchObject([{ kind: "failed_passphrase", times: 4_000 - (auditEntriesMax - 1) }]);
    expect(trail.reduce((sum, entry) => sum + entry.times, 0)).toBe(4_001);

    fixture.clock.advance(1_000);
    const claim = await pushes.claimView(urlToken, { passphrase: "open sesame", ...countEveryone }, stranger);
    expect(claim).toMatchObject({ outcome: "revealed", payload: "x" });
    // Important events still get their own entries.
    expect((await wholeTrail(fixture, urlToken)).at(-1)).toMatchObject({ kind: "view", times: 1 });
    fixture.clock.advance(1_000);
    await refuse(fixture, urlToken, 500);
    const later = await wholeTrail(fixture, urlToken);
    expect(later).toHaveLength(auditEntriesMax + 3);
    expect(later.at(-1)).toMatchObject({ kind: "failed_view", times: 500 });
  });

  test("write nothing for a tombstone once they no longer change the answer", async () => {
    await using fixture = await openTestDomain();
    const { pushes, db } = fixture.domain;
    const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 3 }, stranger);
    await pushes.expire(urlToken, owner);
    const left = async () => {
      const claim = await pushes.claimView(urlToken, countEveryone, stranger);
      return claim.outcome === "gone" ? claim.push.viewsRemaining : claim.outcome;
    };
    expect([await left(), await left(), await left(), await left()]).toEqual([2, 1, 0, 0]);
    const { transactions } = db.counts;
    await refuse(fixture, urlToken, 500);
    expect(db.counts.transactions).toBe(transactions);
  });
});
