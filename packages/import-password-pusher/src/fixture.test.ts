import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ExpectedAuditEntry,
  type ExpectedInstallation,
  type ExpectedPush,
  type ExpectedUser,
  expected,
} from "../../../test/support/password-pusher/expected.ts";
import {
  type Installation,
  installDefaultKey,
  installProduction,
  installProductionOnMysql,
  installProductionOnPostgres,
} from "../../../test/support/password-pusher/installations.ts";
import { type Mariadb, mariadbProgram, startMariadb } from "../../../test/support/password-pusher/mariadb.ts";
import { collect, openSource } from "../../../test/support/password-pusher/open-source.ts";
import type { ImportSource, SourceAuditEntry, SourcePush, SourceUser } from "./source.ts";

interface Engine {
  readonly name: string;
  readonly expected: ExpectedInstallation;
  /** MySQL keeps whole seconds for some tables. */
  readonly userTimesMs: number;
  install(): Installation | Promise<Installation>;
}

let mariadb: Mariadb | undefined;
const { production, default_key: defaultKey } = expected;
const engines: readonly Engine[] = [
  { name: "SQLite", expected: production, userTimesMs: 1, install: () => installProduction() },
  { name: "PostgreSQL", expected: production, userTimesMs: 1, install: installProductionOnPostgres },
  { name: "SQLite, without a key", expected: defaultKey, userTimesMs: 1, install: installDefaultKey },
];
const onMariadb: Engine = {
  name: "MariaDB",
  expected: production,
  userTimesMs: 1_000,
  install() {
    if (mariadb === undefined) throw new Error("MariaDB has not been started.");
    return installProductionOnMysql(mariadb);
  },
};

for (const engine of engines) describe(`an installation on ${engine.name}`, () => describeInstallation(engine));

describe.runIf(mariadbProgram !== undefined)("an installation on MariaDB", () => {
  beforeAll(async () => {
    mariadb = await startMariadb(mariadbProgram ?? "");
  });
  afterAll(() => mariadb?.[Symbol.asyncDispose]());
  describeInstallation(onMariadb);
});

it("has the same fingerprint on every engine, and a different one from other installations", async () => {
  const { fingerprint } = await openSource(installProduction());

  expect((await openSource(await installProductionOnPostgres())).fingerprint).toBe(fingerprint);
  expect((await openSource(installDefaultKey())).fingerprint).not.toBe(fingerprint);
});

function describeInstallation({ expected: there, userTimesMs, install }: Engine): void {
  const open = async () => await openSource(await install());

  it("returns every push with its state, content and limits", async () => {
    const rows = await collect((await open()).pushes(0));

    expect(rows.map(({ id }) => id)).toEqual(there.pushes.map(({ id }) => id));
    for (const [at, push] of there.pushes.entries()) {
      const read = rows[at];
      if (push.unreadable.includes("payload")) {
        expect(read).toMatchObject({ outcome: "unreadable", id: push.id, reason: "No key opens its payload." });
        continue;
      }
      if (read?.outcome !== "read") throw new Error(`${push.tag} was not read.`);
      expect(read.missingParts, push.tag).toEqual([]);
      expect(shown(read.row), push.tag).toEqual(wanted(push, there.users));
    }
  });

  it("returns every file of a live push unchanged", async () => {
    const source = await open();
    const rows = await collect(source.pushes(0));

    for (const push of there.pushes.filter(({ at_reference: state }) => !state.expired)) {
      const read = rows.find(({ id }) => id === push.id);
      const files = read?.outcome === "read" ? (read.row.open?.files ?? []) : [];
      const digests = await Promise.all(files.map(async (file) => await sha256Of(source.readFile(file))));
      expect(
        files.map(({ filename, contentType, sizeBytes }, at) => [filename, contentType, sizeBytes, digests[at]]),
      ).toEqual(push.files.map((file) => [file.shown_filename, file.content_type, file.byte_size, file.sha256]));
    }
  });

  it("returns every user with their credentials", async () => {
    const rows = await collect((await open()).users(0));

    expect(
      rows.map((row) => (row.outcome === "read" ? [row.missingParts, shownUser(row.row, userTimesMs)] : row)),
    ).toEqual(there.users.map((user) => [[], wantedUser(user, userTimesMs)]));
  });

  it("returns the complete audit trail of every push, in order", async () => {
    const source = await open();
    const kinds: Record<string, number> = Object.fromEntries(
      Object.keys(there.totals.audit_by_kind).map((kind) => [kind, 0]),
    );

    for (const push of there.pushes) {
      const { entries, missingParts } = await source.trail(push.id);
      expect(missingParts).toEqual([]);
      for (const { kind } of entries) kinds[kind] = (kinds[kind] ?? 0) + 1;
      expect(entries).toHaveLength(push.audit_total);
      expect(countsOf(entries)).toEqual(push.audit_counts);
      expect(shownEntry(entries.at(0), there.users)).toEqual(wantedEntry(push.audit_oldest));
      expect(shownEntry(entries.at(-1), there.users)).toEqual(wantedEntry(push.audit_newest));
    }
    expect(kinds).toEqual(there.totals.audit_by_kind);
  });

  it("returns link deliveries", async () => {
    const source = await open();

    for (const mail of there.notify_by_emails) {
      const entry = (await source.trail(mail.push_id)).entries.find(({ id }) => id === mail.audit_log_id);
      expect(entry?.notification).toMatchObject({
        recipients: mail.recipients.split(", "),
        locale: mail.locale,
        status: mail.status,
        successfulSends: mail.successful_sends,
        errorMessage: mail.error_message ?? null,
      });
      expect(entry?.notification?.proceedAt).toBeGreaterThan(entry?.createdAt ?? Number.POSITIVE_INFINITY);
    }
  });

  it("counts all rows, and continues after any id", async () => {
    const source = await open();
    const [, second] = there.pushes;

    expect(await source.counts()).toEqual({
      users: there.totals.users,
      pushes: there.totals.pushes,
      auditEntries: there.totals.audit_logs,
      files: there.totals.attachments - (there === production ? 1 : 0),
      notifications: there.notify_by_emails.length,
      withoutPush: { auditEntries: 0, notifications: 0, files: 0 },
    });
    expect(await collect(source.pushes(second?.id ?? 0))).toHaveLength(there.totals.pushes - 2);
    expect(await collect(source.users(there.users.at(-1)?.id ?? 0))).toEqual([]);
    expect(await source.styleSheet()).toBe(there.site_settings.custom_css);
  });
}

function shown(push: SourcePush) {
  const { id, kind, urlToken, userId, name, note, expireAfterDays, expireAfterViews, countedViews, createdAt } = push;
  return {
    id,
    kind,
    urlToken,
    userId,
    name,
    note,
    expireAfterDays,
    expireAfterViews,
    countedViews,
    createdAt,
    deletableByViewer: push.deletableByViewer,
    retrievalStep: push.retrievalStep,
    payload: push.open === null ? null : push.open.payload,
    passphrase: push.open === null ? null : push.open.passphrase,
    ended: push.end?.reason ?? null,
    endedAt: push.end?.at ?? null,
  };
}

function wanted(push: ExpectedPush, users: readonly ExpectedUser[]): ReturnType<typeof shown> {
  const state = push.at_reference;
  const content = state.expired ? null : { payload: push.payload ?? "", passphrase: push.passphrase || null };
  const byViews = state.reason === "views" || state.views_remaining === 0;
  const reason = push.deleted ? "deleted" : byViews ? "views" : "time";
  return {
    id: push.id,
    kind: push.kind,
    urlToken: push.url_token,
    userId: users.find(({ email }) => email === push.owner)?.id ?? null,
    name: push.name,
    note: push.note,
    expireAfterDays: push.expire_after_days,
    expireAfterViews: push.expire_after_views,
    countedViews: push.counted_views,
    createdAt: Date.parse(push.created_at),
    deletableByViewer: push.deletable_by_viewer === true,
    retrievalStep: push.retrieval_step === true,
    payload: content === null ? null : content.payload,
    passphrase: content === null ? null : content.passphrase,
    ended: state.expired ? reason : null,
    endedAt: state.expired ? endOf(push, reason) : null,
  };
}

function endOf(push: ExpectedPush, reason: "deleted" | "views" | "time"): number {
  // The last view is the newest entry of those that ended by views without the flag.
  const unflagged = reason === "views" ? push.audit_newest.created_at : push.expires_at;
  return Date.parse(push.expired_on ?? unflagged);
}

function shownUser({ id, email, admin, language, confirmedAt, createdAt, apiToken, totp }: SourceUser, unitMs: number) {
  return {
    id,
    email,
    admin,
    language,
    apiToken,
    confirmed: confirmedAt !== null,
    createdAt: createdAt - (createdAt % unitMs),
    totp: totp && { secret: totp.secret, lastStepAt: totp.lastStepAt },
  };
}

function wantedUser(user: ExpectedUser, unitMs: number): ReturnType<typeof shownUser> {
  const createdAt = Date.parse(user.created_at);
  const otp = user.otp?.enabled === true ? user.otp : null;
  return {
    id: user.id,
    email: user.email,
    admin: user.admin,
    language: user.preferred_language,
    apiToken: user.api_token,
    confirmed: user.confirmed,
    createdAt: createdAt - (createdAt % unitMs),
    totp: otp && { secret: otp.secret, lastStepAt: otp.last_otp_timestep },
  };
}

interface ShownEntry extends Pick<SourceAuditEntry, "address" | "userAgent" | "referrer" | "createdAt"> {
  readonly kind: string;
  readonly user: string | null;
}

function shownEntry(entry: SourceAuditEntry | undefined, users: readonly ExpectedUser[]): ShownEntry | undefined {
  if (entry === undefined) return undefined;
  const user = entry.userId === null ? null : (users.find(({ id }) => id === entry.userId)?.email ?? "unknown");
  const { kind, address, userAgent, referrer, createdAt } = entry;
  return { kind, address, userAgent, referrer, user, createdAt };
}

function wantedEntry(entry: ExpectedAuditEntry): ShownEntry {
  return {
    kind: entry.kind,
    address: entry.ip ?? "",
    userAgent: entry.user_agent ?? "",
    referrer: entry.referrer ?? "",
    user: entry.user,
    createdAt: Date.parse(entry.created_at),
  };
}

function countsOf(entries: readonly SourceAuditEntry[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = Object.fromEntries(
    Object.keys(production.totals.audit_by_kind).map((kind) => [kind, 0]),
  );
  for (const { kind } of entries) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

async function sha256Of(chunks: ReturnType<ImportSource["readFile"]>): Promise<string> {
  const digest = createHash("sha256");
  for await (const chunk of chunks) digest.update(chunk);
  return digest.digest("hex");
}
