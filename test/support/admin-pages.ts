import type { AdminEntry, User } from "../../src/accounts/accounts.ts";
import { jobNames } from "../../src/database/job-runs.ts";
import { bulkEndingView } from "../../src/pages/admin/bulk-ending.tsx";
import { deletionView } from "../../src/pages/admin/group-deletion.tsx";
import { groupsView, groupView } from "../../src/pages/admin/groups.tsx";
import { jobsView } from "../../src/pages/admin/jobs.tsx";
import { mailsView } from "../../src/pages/admin/mails.tsx";
import { overviewView } from "../../src/pages/admin/overview.tsx";
import { pushesView } from "../../src/pages/admin/pushes.tsx";
import { rulesView } from "../../src/pages/admin/rules.tsx";
import { sessionsView } from "../../src/pages/admin/sessions.tsx";
import { settingsView } from "../../src/pages/admin/settings.tsx";
import { themeView } from "../../src/pages/admin/theme.tsx";
import { trailView } from "../../src/pages/admin/trail.tsx";
import { userView } from "../../src/pages/admin/user.tsx";
import { usersView } from "../../src/pages/admin/users.tsx";
import type { Page, PageContext } from "../../src/pages/page.ts";
import { untouched } from "../../src/pages/take-form.ts";
import { noRules } from "../../src/policies/policies.ts";
import type { EndReason } from "../../src/pushes/pushes.ts";

const nowMs = Date.UTC(2027, 2, 3, 14, 5);
const endReasons: readonly (EndReason | null)[] = [null, "views", "time", "viewer", "owner", "administrator"];
const actions: readonly AdminEntry["action"][] = [
  ...(["made_admin", "removed_admin", "disabled", "enabled", "reset_factors", "deleted_user"] as const),
  ...([
    "created_user",
    "set_password",
    "ended_push",
    "retried_mail",
    "retried_mails",
    "discarded_mail",
    "changed_branding",
    "changed_rules",
    "changed_presets",
    "created_group",
    "changed_group",
    "deleted_group",
    "added_member",
    "removed_member",
    "groups_by_claim",
  ] as const),
];

function usersNamed(email: string): readonly User[] {
  return [true, false].map((yes, at) => ({
    id: at + 1,
    email,
    admin: yes,
    createdAt: nowMs,
    language: null,
    hasPassword: true,
    hasSecondFactor: yes,
    confirmedAt: yes ? nowMs : null,
    disabledAt: yes ? null : nowMs,
  }));
}

function bulkPages(text: string, page: PageContext): readonly Page[] {
  const typed = { network: text, olderHours: text, largerMib: text, owners: "owned" as const };
  const request = {
    ...{ id: 1, network: text, createdBefore: nowMs - 1, largerThanBytes: 1024 ** 2, owners: "anonymous" as const },
    ...{ adminId: 1, address: text, userAgent: text, requestedAt: nowMs, lastId: 1, ended: 1, endedBytes: 2 },
  };
  const latest = [
    { ...request, finishedAt: null },
    { ...request, network: "", createdBefore: nowMs, largerThanBytes: 0, finishedAt: nowMs },
  ];
  const model = { typed, problems: {}, preview: undefined, proof: null, state: untouched, latest, nowMs };
  const preview = { count: 1, bytes: 1, isComplete: false };
  return [
    bulkEndingView({ ...model, latest: [] }, page),
    bulkEndingView({ ...model, problems: { network: text, olderHours: text, largerMib: text, all: text } }, page),
    bulkEndingView({ ...model, preview, state: { ...untouched, problems: { proof: text } } }, page),
    bulkEndingView({ ...model, preview: { count: 0, bytes: 0, isComplete: true } }, page),
  ];
}

function jobsPages(text: string, page: PageContext): readonly Page[] {
  const never = { startedAt: null, succeededAt: null, durationMs: null, failedAt: null, failure: null };
  const ran = { startedAt: nowMs - 1, succeededAt: nowMs, durationMs: 61_000, failedAt: nowMs, failure: text };
  const runs = jobNames.map((name, at) => ({ name, everyMs: 10 ** (at % 8), ...(at % 2 === 0 ? never : ran) }));
  const counts = { waiting: 2, failed: 1 };
  const model = { runs, mails: counts, deletions: counts, errors: [{ error: text, ...counts }], processes: 1, nowMs };
  const none = { waiting: 0, failed: 0 };
  return [
    ...(["retried", "nothing"] as const).map((outcome) => jobsView({ ...model, outcome }, page)),
    jobsView({ ...model, runs: [], errors: [], mails: none, deletions: none, processes: 0, outcome: null }, page),
  ];
}

function groupPages(text: string, page: PageContext): readonly Page[] {
  const group = { id: 1, name: text, claim: text, sharesActivity: true };
  const typed = { name: text, claim: text, sharesActivity: false };
  const found = [
    { userId: 1, email: text, byHand: true, byClaim: true },
    { userId: 2, email: text, byHand: false, byClaim: true },
  ];
  const model = { group, memberCount: 2, text, page: 2, found, hasClaims: true };
  const refusal = { ...untouched, refusal: text };
  return [
    groupsView({ groups: [{ ...group, members: 2 }], usersInNoGroup: 3, hasClaims: true, typed, state: refusal }, page),
    groupView({ ...model, typed, members: text, state: refusal }, page),
    groupView({ ...model, state: untouched, found: [], hasClaims: false }, page),
    deletionView({ group, weakened: [text], service: { tokens: 2, pushes: 3 } }, page),
    deletionView({ group, weakened: [], service: { tokens: 0, pushes: 0 } }, page),
  ];
}

function sessionsPages(users: readonly User[], text: string, page: PageContext): readonly Page[] {
  const sessions = users.map((user, id) => ({
    ...{
      id,
      user,
      way: id === 0 ? ("sign_on" as const) : ("break_glass" as const),
      createdAt: nowMs,
      seenAt: nowMs,
      address: text,
      userAgent: text,
    },
  }));
  const filter = { email: text, place: text, way: "here", seen: "older", after: { id: 1, seenAt: nowMs } } as const;
  const model = { filter, sessions, next: { id: 2, seenAt: nowMs }, ownId: 1, hasWays: true, nowMs };
  return [sessionsView(model, page), sessionsView({ ...model, sessions: [], next: null, hasWays: false }, page)];
}

/** The administration pages in each state, with this text in every untrusted place. */
export function adminPages(text: string, page: PageContext): readonly Page[] {
  const users = usersNamed(text).map((user) => ({ user, lastSignedInAt: null, signInCount: 2, tokensInUse: 1_000 }));
  const shown = { created: null, mailsLinks: true, signOnOnly: false };
  const pushes = endReasons.map((endReason, at) => ({
    id: at + 1,
    kind: "url" as const,
    ownerId: at === 0 ? null : at,
    endReason,
    views: 1,
    expireAfterViews: 5,
    createdAt: nowMs,
    expiresAt: nowMs + 1,
    expired: endReason !== null,
    expiredOn: endReason === null ? null : nowMs,
    storedBytes: 1,
    passphraseRequired: true,
  }));
  const letter = { id: 1, to: text, kind: "reset_password" as const, createdAt: nowMs, attempts: 3, lastError: text };
  const letters = [letter, { ...letter, id: 2, to: null, kind: null }];
  const health = { databaseAnswers: false, databaseBytes: 1, diskFreeBytes: 1, diskTotalBytes: 3, diskFloorBytes: 2 };
  const entries = actions.flatMap((action, at) => [
    { createdAt: nowMs, adminId: null, adminEmail: text, action, subject: text, address: text },
    { createdAt: nowMs, adminId: at, adminEmail: text, action, subject: "style", address: "" },
  ]);
  const overview = {
    version: text,
    health: { ...health, processes: 2 },
    mails: { waiting: 1, failed: 2 },
    users: { total: 3, active: 2 },
    failures: { jobs: 1, mails: 2, deletions: 3 },
    outdatedNode: text,
    pushes: { live: 1, ended: 2, files: 1, fileBytes: 3, filesToDelete: 1, uploads: 1 },
  };
  const ruleModel = {
    ...{ rules: { ...noRules, mailDomains: [text] }, outer: { ...noRules, maxViews: 3, mailDomains: [text] } },
    target: { scope: "instance" as const, path: "/admin/rules", group: null, people: 2 },
    ...{
      notNumbers: {},
      revision: 1,
      savedMeanwhile: undefined,
      state: untouched,
      warnings: [],
      isSaved: true,
      isForged: true,
    },
  };
  const filter = { owner: text, kind: "qr" as const, state: "expired" as const, beforeId: 7 };
  return [
    rulesView(ruleModel, page),
    rulesView(
      {
        ...ruleModel,
        savedMeanwhile: noRules,
        state: { ...untouched, problems: { mailDomains: text } },
        warnings: [text],
      },
      page,
    ),
    rulesView(
      {
        ...ruleModel,
        target: { scope: { groupId: 1 }, path: "/admin/groups/1/rules", group: { name: text }, people: 2 },
      },
      page,
    ),
    ...groupPages(text, page),
    ...sessionsPages(usersNamed(text), text, page),
    ...[
      {
        baseUrl: text,
        proxies: [text],
        sendsEmail: true,
        sendsAccountEmails: true,
        hasOtherUsers: true,
        signUp: "closed" as const,
        engine: "sqlite" as const,
      },
      {
        baseUrl: null,
        proxies: [],
        sendsEmail: false,
        sendsAccountEmails: false,
        hasOtherUsers: false,
        signUp: "open" as const,
        engine: "postgres" as const,
      },
    ].map((steps) => overviewView({ ...overview, steps, state: untouched }, page)),
    ...[null, text].map((refusal) =>
      usersView(
        { ...shown, text, page: 2, users, ownId: 1, nowMs, email: text, state: { ...untouched, refusal } },
        page,
      ),
    ),
    ...users.flatMap((summary) =>
      [null, text].map((refusal) =>
        userView(
          {
            summary,
            sessions: [{ id: 1, createdAt: nowMs, seenAt: nowMs, address: text, userAgent: text }],
            left: { links: 1_001, requests: 1 },
            isOwn: summary.user.admin,
            asksByEmail: true,
            nowMs,
            state: { ...untouched, refusal },
            sent: { action: "change_email", email: text },
          },
          page,
        ),
      ),
    ),
    ...[null, text].map((password) =>
      usersView(
        {
          text,
          page: 1,
          users: [],
          ownId: 1,
          nowMs,
          state: untouched,
          mailsLinks: false,
          signOnOnly: false,
          created: { email: text, password },
        },
        page,
      ),
    ),
    pushesView(
      { filter, pushes, nextBeforeId: 1, unknown: "unknown owner", owners: new Map([[1, text]]), nowMs },
      page,
    ),
    pushesView({ filter, pushes: [], nextBeforeId: null, unknown: "unknown link", owners: new Map(), nowMs }, page),
    ...bulkPages(text, page),
    ...([null, "queued", "link_over", "unknown"] as const).map((outcome) =>
      mailsView({ emails: letters, page: 2, nowMs, outcome, isOff: true }, page),
    ),
    mailsView({ emails: [], page: 1, nowMs, outcome: null, isOff: false }, page),
    ...jobsPages(text, page),
    settingsView(
      {
        text,
        from: null,
        settings: [
          { name: "PORT", from: "environment", shown: text },
          { name: "HOST", from: "default", shown: text },
        ],
      },
      page,
    ),
    themeView(
      {
        name: text,
        accent: text,
        style: text,
        theme: page.theme,
        preview: text,
        outcome: "saved",
        state: { ...untouched, problems: { name: text, logo: text, accent: text, style: text } },
      },
      page,
    ),
    trailView({ entries, page: 2 }, page),
    trailView({ entries: [], page: 1 }, page),
  ];
}
