import { describe, expect, test } from "vitest";
import { TestClock, testConfig } from "../../test/support/domain.ts";
import { minuteMs } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import { createPolicies, settingsUnder } from "./policies.ts";
import { activeRules, combine, findViolations, type Judged, noRules, type Policy, ruleNames } from "./policy.ts";

/** For each rule two values, and the two together: a rule without a row does not compile. */
const combinations: {
  readonly [Name in keyof Policy]: readonly (readonly [Policy[Name], Policy[Name], Policy[Name]])[];
} = {
  passphraseRequired: [[true, false, true]],
  passphraseMinLength: [[8, 12, 12]],
  passphraseCommonAllowed: [[true, false, false]],
  maxMinutes: [
    [60, 30, 30],
    [null, 30, 30],
    [null, null, null],
  ],
  maxViews: [
    [3, 9, 3],
    [null, 9, 9],
  ],
  kinds: [
    [["text", "file"], ["file", "qr"], ["file"]],
    [["text"], ["url"], []],
  ],
  encryptionRequired: [[false, true, true]],
  notifyOnViewRequired: [[false, true, true]],
  requests: [[true, false, false]],
  mailDomains: [
    [null, ["a.example"], ["a.example"]],
    [["a.example", "b.example"], ["b.example"], ["b.example"]],
    [["a.example"], ["b.example"], []],
  ],
};

describe.each(ruleNames)("%s", (name) => {
  test.each(combinations[name].map((row) => [...row]))("%j and %j are %j, in any order", (one, other, both) => {
    const first = { ...noRules, [name]: one };
    const second = { ...noRules, [name]: other };
    expect(combine(first, second)).toEqual({ ...noRules, [name]: both });
    expect(combine(second, first)).toEqual({ ...noRules, [name]: both });
    expect(combine(first, first)).toEqual(first);
    expect(combine(first)).toEqual(first);
  });
});

test("no policies are the policy without rules", () => {
  expect(combine()).toEqual(noRules);
  expect(activeRules(noRules)).toEqual([]);
  expect(activeRules({ ...noRules, maxViews: 3, kinds: ["text"] })).toEqual(["maxViews", "kinds"]);
});

const refusedFields = (policy: Partial<Policy>, judged: Judged) =>
  Object.keys(findViolations({ ...noRules, ...policy }, judged));

test("a rule does not judge what an operation does not change", () => {
  const everything: Policy = {
    passphraseRequired: true,
    passphraseMinLength: 64,
    passphraseCommonAllowed: false,
    maxMinutes: 1,
    maxViews: 1,
    kinds: [],
    encryptionRequired: true,
    notifyOnViewRequired: true,
    requests: false,
    mailDomains: [],
  };
  expect(refusedFields(everything, {})).toEqual([]);
});

test.each<[string, Partial<Policy>, Judged, readonly string[]]>([
  ["a missing passphrase", { passphraseRequired: true }, { passphrase: "none" }, ["passphrase"]],
  ["a passphrase that the server does not see", { passphraseRequired: true }, { passphrase: "unseen" }, []],
  ["a passphrase that is too short", { passphraseMinLength: 5 }, { passphrase: { text: "äöüß" } }, ["passphrase"]],
  ["characters beyond 16 bits", { passphraseMinLength: 4 }, { passphrase: { text: "🔑🔑🔑🔑" } }, []],
  ["each counts once", { passphraseMinLength: 5 }, { passphrase: { text: "🔑🔑🔑🔑" } }, ["passphrase"]],
  ["no passphrase has no length", { passphraseMinLength: 5 }, { passphrase: "none" }, []],
  ["a common one", { passphraseCommonAllowed: false }, { passphrase: { text: "Password2024!" } }, ["passphrase"]],
  ["the longest life", { maxMinutes: 15 }, { lifetime: { ms: 15 * minuteMs, field: "expireAfterDays" } }, []],
  [
    "a longer one",
    { maxMinutes: 15 },
    { lifetime: { ms: 15 * minuteMs + 1, field: "expireAfterDuration" } },
    ["expireAfterDuration"],
  ],
  ["the most views", { maxViews: 2 }, { views: 2 }, []],
  ["more views", { maxViews: 2 }, { views: 3 }, ["expireAfterViews"]],
  ["a kind", { kinds: ["text"] }, { kinds: ["text", "file"] }, ["kind"]],
  ["what a request asks for", { kinds: ["text"] }, { asks: { wantsFiles: "file" } }, ["wantsFiles"]],
  ["a request", { requests: false }, { asks: { wantsText: "text" } }, ["request"]],
  ["content that the server sees", { encryptionRequired: true }, { isSealedBefore: false }, ["encryption"]],
  ["no notification", { notifyOnViewRequired: true }, { notifiesOnView: false }, ["notifyOnView"]],
  ["a domain", { mailDomains: ["example.com"] }, { recipients: ["a@example.com"] }, []],
  ["a domain below it", { mailDomains: ["example.com"] }, { recipients: ["a@x.example.com"] }, ["notifyEmailsTo"]],
  [
    "one of several",
    { mailDomains: ["b.example"] },
    { recipients: ["a@b.example", "a@c.example"] },
    ["notifyEmailsTo"],
  ],
])("%s", (_what, policy, judged, fields) => {
  expect(refusedFields(policy, judged)).toEqual(fields);
});

const stored = { hasForged: false, instance: undefined, everybodyElse: undefined, groups: [] };

/** Without rules of the instance. */
function policiesOf(config: Config, readOfCaller = () => Promise.resolve(stored)) {
  const store = { read: async () => undefined, readOfCaller, save: async () => false };
  return createPolicies({ config, clock: new TestClock(), monotonicMs: () => 0, store });
}

test("the settings are the policy of everybody", async () => {
  const config = testConfig("/nowhere", {
    PWP__POLICY__KINDS: "file, text",
    PWP__ENABLE_FILE_PUSHES: "false",
    PWP__REQUESTS__ENABLED: "false",
    PWP__POLICY__MAIL_DOMAINS: "Example.com,example.com",
  });
  const expected = { ...noRules, kinds: ["text"], requests: false, mailDomains: ["example.com"] };
  const policies = policiesOf(config);
  expect(await policies.find(null)).toEqual({ policy: expected, sources: [{ from: "settings" }] });
  expect(await policiesOf(testConfig("/nowhere")).find({ id: 1 })).toEqual({
    policy: noRules,
    sources: [],
  });
});

test("rules that could not be read are read again by the next request", async () => {
  const answers = [Promise.reject(new Error("The database is away.")), Promise.resolve(stored)];
  const policies = policiesOf(
    testConfig("/nowhere"),
    () => answers.shift() ?? Promise.reject(new Error("asked again")),
  );
  await expect(policies.of(null)).rejects.toThrow("The database is away.");
  expect(await policies.of(null)).toEqual(noRules);
  // The next ones share what was read.
  expect(await policies.of(null)).toEqual(noRules);
});

test("bounds and defaults of a kind shrink to the policy", () => {
  const { text } = testConfig("/nowhere").kinds;
  expect(settingsUnder(noRules, "text", text)).toEqual(text);
  expect(settingsUnder({ ...noRules, maxMinutes: 2 * 1440 + 5, maxViews: 3, kinds: ["url"] }, "text", text)).toEqual({
    ...text,
    enabled: false,
    days: { min: 1, max: 2, default: 2 },
    views: { min: 1, max: 3, default: 3 },
  });
  expect(settingsUnder({ ...noRules, maxMinutes: 60 }, "text", text).days).toEqual({ min: 1, max: 0, default: 0 });
});
