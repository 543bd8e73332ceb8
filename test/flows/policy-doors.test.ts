import { makeLinkKey } from "@sealpush/age/link-key";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type KindName, kindNames } from "../../src/base/push-kinds.ts";
import { noRules, type Policy, type RuleName, ruleNames } from "../../src/policies/policies.ts";
import { bearer, password, startTestApp } from "../support/app.ts";
import { countRows, readRows } from "../support/engine-database.ts";
import { makeGroup, makeServiceToken } from "../support/groups.ts";
import { openMailSink } from "../support/mail-sink.ts";
import { signInAt } from "../support/owner-requests.ts";
import {
  type CallerName,
  contentOf,
  creationDoors,
  type DoorCaller,
  editDoors,
  mailingDoors,
  neverJudged,
  requestDoors,
  requestFor,
} from "../support/policy-doors.ts";
import { loadValid } from "../support/settings.ts";

type Fields = Readonly<Record<string, unknown>>;

interface Case {
  readonly environment: Readonly<Record<string, string>>;
  /** What a push needs so that it breaks no other rule is added by the test. null: this kind cannot break the rule. */
  readonly breaks: Fields | null;
  readonly field: string;
  /** null: a push of this kind cannot keep to the rule, at these entries. */
  readonly keeps: Fields | null;
  /** Only where links are mailed. */
  readonly isAboutMail?: true;
}

/** How each kind breaks and keeps each rule when a push is made. A rule without a row does not compile. */
const creations: Readonly<Record<RuleName, (kind: KindName) => Case | null>> = {
  passphraseRequired: () => ({
    environment: { PWP__POLICY__PASSPHRASE_REQUIRED: "true" },
    breaks: {},
    field: "passphrase",
    keeps: { passphrase: "open" },
  }),
  passphraseMinLength: () => ({
    environment: { PWP__POLICY__PASSPHRASE_MIN_LENGTH: "12" },
    breaks: { passphrase: "elevenchars" },
    field: "passphrase",
    keeps: { passphrase: "twelve chars" },
  }),
  passphraseCommonAllowed: () => ({
    environment: { PWP__POLICY__PASSPHRASE_COMMON_ALLOWED: "false" },
    breaks: { passphrase: "Password2024!" },
    field: "passphrase",
    keeps: { passphrase: "wrapped otter" },
  }),
  maxMinutes: () => ({
    environment: { PWP__POLICY__MAX_MINUTES: "60" },
    breaks: { expire_after_duration: 4 },
    field: "expire_after_duration",
    keeps: { expire_after_duration: 3 },
  }),
  maxViews: () => ({
    environment: { PWP__POLICY__MAX_VIEWS: "3" },
    breaks: { expire_after_views: 4 },
    field: "expire_after_views",
    keeps: { expire_after_views: 3 },
  }),
  kinds: (kind) => ({
    environment: { PWP__POLICY__KINDS: kind === "text" ? "url" : "text" },
    breaks: {},
    field: "kind",
    keeps: null,
  }),
  encryptionRequired: () => ({
    environment: { PWP__POLICY__ENCRYPTION_REQUIRED: "true" },
    breaks: {},
    field: "encryption",
    keeps: null,
  }),
  notifyOnViewRequired: () => ({
    environment: { PWP__POLICY__NOTIFY_ON_VIEW_REQUIRED: "true" },
    breaks: { notify_on_view: false },
    field: "notify_on_view",
    keeps: {},
  }),
  requests: () => null,
  mailDomains: () => ({
    environment: { PWP__POLICY__MAIL_DOMAINS: "example.com" },
    breaks: { notify_emails_to: "a@example.com, b@mail.example.com" },
    field: "notify_emails_to",
    keeps: { notify_emails_to: "a@example.com" },
    isAboutMail: true,
  }),
};

const email = "owner@example.com";
const sink = await openMailSink();
const mailDomains = { PWP__POLICY__MAIL_DOMAINS: "example.com" };
const onlyText = { PWP__POLICY__KINDS: "text" };
const callers = new Map<string, Callers>();
type Callers = Readonly<Record<CallerName, DoorCaller>>;

/** What an edit sends besides new content, where it differs from a creation. */
const edits: Readonly<Partial<Record<RuleName, Pick<Case, "breaks" | "keeps">>>> = {
  // The lifetime of a push is judged only if it changes.
  maxMinutes: { breaks: { expire_after_days: 5 }, keeps: {} },
  // A rule switches nothing on in a push that exists.
  notifyOnViewRequired: { breaks: {}, keeps: { notify_on_view: true } },
};

/** One server for each set of rules, until the last test: the database of a test's own ends with that test. */
beforeAll(async () => {
  const cases = kindNames.flatMap((kind) => ruleNames.map((rule) => creations[rule](kind)?.environment ?? {}));
  for (const environment of [...cases, mailDomains, onlyText, {}]) {
    const key = JSON.stringify(environment);
    if (!callers.has(key)) callers.set(key, await openCallers(environment));
  }
});
afterAll(async () => {
  for (const { user } of callers.values()) await user.fixture[Symbol.asyncDispose]();
});

function callerUnder(environment: Readonly<Record<string, string>>, name: CallerName = "user"): DoorCaller {
  const caller = callers.get(JSON.stringify(environment))?.[name];
  if (caller === undefined) throw new Error("There is no server with these rules.");
  return caller;
}

async function openCallers(environment: Readonly<Record<string, string>>): Promise<Callers> {
  const fixture = await startTestApp({
    environment: { ...sink.environment, PWP__ENABLE_USER_ACCOUNT_EMAILS: "false", ...environment },
  });
  const token = await fixture.makeToken(email);
  const origin = await fixture.listen();
  const user = { fixture, origin, token, cookie: await signInAt(origin, email, password) };
  const group = await makeGroup(fixture, "Deploy", []);
  const service = { fixture, origin, token: await makeServiceToken(fixture, group.id, "root@example.com"), cookie: "" };
  return { user, service };
}

/** A door with each of its callers. */
function withCallers<Door extends { readonly callers: readonly CallerName[]; readonly name: string }>(
  doors: readonly Door[],
) {
  return doors.flatMap((door) => door.callers.map((caller) => ({ ...door, name: `${door.name}, ${caller}`, caller })));
}

/** A service account has no address for notifications. */
const canKeep = (rule: RuleName, caller: CallerName) => caller === "user" || rule !== "notifyOnViewRequired";

const pushes = ({ fixture }: DoorCaller) => countRows(fixture.app.domain.db, "pushes");

describe.each(withCallers(creationDoors))("$name", ({ caller: by, kinds, takesMail, create }) => {
  const cases = kindNames.filter(kinds).flatMap((kind) => ruleNames.map((rule) => [rule, kind] as const));
  test.each(cases)("holds %s for %s", async (rule, kind) => {
    const row = creations[rule](kind);
    if (row === null || (row.isAboutMail && !takesMail)) return;
    const caller = callerUnder(row.environment, by);
    const before = await pushes(caller);
    if (row.breaks !== null) {
      const { status, refused } = await create(caller, kind, row.breaks);
      expect([status, refused ?? [row.field]]).toEqual([422, [row.field]]);
      expect(await pushes(caller)).toBe(before);
    }
    if (row.keeps !== null && canKeep(rule, by)) {
      expect((await create(caller, kind, row.keeps)).status).toBe(201);
      expect(await pushes(caller)).toBe(before + 1);
    }
  });
});

describe.each(withCallers(mailingDoors))("mailing at $name", ({ caller: by, mail }) => {
  test("mails links only to allowed domains", async () => {
    const caller = callerUnder(mailDomains, by);
    const { fixture, token } = caller;
    const { url_token: urlToken } = (
      await fixture.server.inject({
        method: "POST",
        url: "/api/v2/pushes",
        headers: { authorization: `Bearer ${token}` },
        payload: { push: { payload: "x" } },
      })
    ).json();
    const deliveries = () => countRows(fixture.app.domain.db, "link_deliveries");
    const before = await deliveries();
    expect(await mail(caller, urlToken, { notify_emails_to: "a@example.com,b@example.org" })).toBe(422);
    expect(await deliveries()).toBe(before);
    expect(await mail(caller, urlToken, { notify_emails_to: "A@EXAMPLE.com" })).toBe(201);
  });
});

test("a text push with files is of both kinds", async () => {
  const { fixture, token } = callerUnder(onlyText);
  const { statusCode, body } = await fixture.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    headers: { authorization: `Bearer ${token}` },
    payload: { push: { payload: "x", kind: "text", files: [{ filename: "a.txt", data: "aGk=" }] } },
  });
  expect([statusCode, body]).toEqual([422, '{"kind":["file pushes are not allowed by the rules of this server."]}']);
});

describe.each(withCallers(requestDoors))("requests at $name", ({ caller: by, ask }) => {
  test("need an allowed kind", async () => {
    const caller = callerUnder(onlyText, by);
    const request = requestFor(await makeLinkKey());
    expect(await ask(caller, { ...request, wants_text: true, wants_files: true })).toBe(422);
    expect(await ask(caller, { ...request, wants_text: true, wants_files: false })).toBe(201);
  });
});

/** Rules that administrators save after the push was made. */
async function saveRules({ fixture }: DoorCaller, policy: Policy): Promise<void> {
  const { policies } = fixture.app.domain;
  const { revision } = await policies.read("instance");
  await policies.save("instance", { policy, revision }, async () => undefined);
}

const newContent: Fields = { payload: "https://example.com/other" };

describe.each(withCallers(editDoors))("editing at $name", ({ caller: by, edit }) => {
  const cases = kindNames.flatMap((kind) => ruleNames.map((rule) => [rule, kind] as const));
  test.each(cases)("holds %s for %s", async (rule, kind) => {
    const row = creations[rule](kind);
    if (row === null || row.isAboutMail) return;
    const { breaks, keeps } = { ...row, ...edits[rule] };
    const caller = callerUnder({}, by);
    const { db } = caller.fixture.app.domain;
    const made = await caller.fixture.server.inject({
      method: "POST",
      url: "/api/v2/pushes",
      headers: bearer(caller.token),
      payload: { push: { ...contentOf[kind], kind } },
    });
    expect(made.statusCode).toBe(201);
    const { url_token: urlToken } = made.json();
    const generations = () => readRows(db, "SELECT sum(seal_generation) AS sum FROM pushes");
    const before = await generations();
    await saveRules(caller, { ...noRules, ...loadValid(row.environment).config.policy });
    try {
      if (breaks !== null) {
        expect(await edit(caller, urlToken, { ...newContent, ...breaks })).toBe(422);
        expect(await generations()).toEqual(before);
      }
      if (keeps !== null && canKeep(rule, by)) {
        expect(await edit(caller, urlToken, { ...newContent, ...keeps })).toBe(201);
        expect(await generations()).not.toEqual(before);
      }
    } finally {
      await saveRules(caller, noRules);
    }
  });
});

test("every route that changes pushes or requests is one of these doors, or never judged", () => {
  const { routes } = callerUnder({}).fixture.app;
  const changing = routes.filter(
    ({ pattern, changesState, retrieval, scope }) =>
      changesState && !retrieval && scope !== "expire" && !/^\/(admin|users|first_run|theme)\b/.test(pattern),
  );
  // API v2 and the requests' API are served with `.json`, too.
  const found = new Set(changing.map(({ method, pattern }) => `${method} ${pattern}`));
  const addresses = [...found].filter((route) => !/ \/api\/.*\.json$/.test(route));
  const doors = [...creationDoors, ...mailingDoors, ...requestDoors, ...editDoors].map(({ route }) => route);
  expect(addresses.sort()).toEqual([...doors, ...neverJudged].sort());
});
