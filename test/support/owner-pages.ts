import { groupActivityView, membersPushView, memberView } from "../../src/pages/activity/group.tsx";
import { auditView } from "../../src/pages/audit/view.tsx";
import { deletionView } from "../../src/pages/dashboard/deletion.tsx";
import { dashboardView } from "../../src/pages/dashboard/view.tsx";
import type { Page, PageContext } from "../../src/pages/page.ts";
import type {
  AuditEntry,
  AuditKind,
  EndReason,
  ListedPush,
  OwnedPush,
  PushSearch,
  TrailEvent,
} from "../../src/pushes/pushes.ts";
import { ownedPush } from "./push-row.ts";

const nowMs = Date.UTC(2027, 2, 3, 14, 5);
const endReasons: readonly (EndReason | null)[] = [null, "views", "time", "viewer", "owner"];
const auditKinds: readonly AuditKind[] = [
  ...(["creation", "view", "failed_view", "expire", "failed_passphrase"] as const),
  ...(["admin_view", "owner_view", "edit", "creation_email_send", "download"] as const),
];

function pushesNamed(text: string): readonly OwnedPush[] {
  return endReasons.map((endReason, at) =>
    ownedPush({
      urlToken: `token-${at}`,
      kind: "url",
      name: at === 0 ? null : text,
      note: text,
      daysRemaining: 3,
      viewsRemaining: 2,
      views: 3,
      passphraseRequired: true,
      notifyOnView: true,
      expired: endReason !== null,
      endReason,
      expiredOn: endReason === null ? null : nowMs - 1_000,
      createdAt: nowMs - 90_000_000,
      updatedAt: nowMs,
      expiresAt: nowMs + 90_000_000,
    }),
  );
}

function mailed(kind: AuditKind, text: string): Pick<AuditEntry, "linkDelivery"> {
  if (kind !== "creation_email_send") return {};
  const report = { status: "partially_failed", proceedAt: nowMs, errorMessage: text } as const;
  return { linkDelivery: { recipients: `${text},${text}`, locale: text, successfulSends: text, ...report } };
}

function eventsWith(text: string): readonly TrailEvent[] {
  const times = { createdAt: nowMs - 7_200_000, updatedAt: nowMs - 3_600_000 };
  const from = { address: text, userAgent: text, referrer: `https://example.com/${text}` };
  return [
    ...(["views", "time"] as const).map((reason) => ({ kind: "limit" as const, reason, ...times })),
    ...auditKinds.flatMap((kind) =>
      (["owner", "holder", "administrator"] as const).map((by, at) => ({
        kind,
        by,
        userId: at,
        times: at + 1,
        ...from,
        ...times,
        ...mailed(kind, text),
      })),
    ),
  ];
}

/** What members of a group see of each other. */
function activityPages(text: string, page: PageContext, pushes: readonly ListedPush[]): readonly Page[] {
  const group = { id: 1, name: text };
  const member = { group, userId: 2, email: text };
  const found = [{ userId: 2, email: text, byHand: true, byClaim: false }];
  const events = eventsWith(text);
  return [
    groupActivityView({ group, text, page: 2, found }, page),
    groupActivityView({ group, text: "", page: 1, found: [] }, page),
    memberView({ member, pushes, hasMore: true, page: 1, nowMs }, page),
    memberView({ member, pushes: [], hasMore: false, page: 1, nowMs }, page),
    ...pushes.map((push) => membersPushView({ member, push, events, hasMore: true, page: 2, nowMs }, page)),
    ...pushes
      .slice(0, 1)
      .map((push) => membersPushView({ member, push, events: [], hasMore: false, page: 1, nowMs }, page)),
  ];
}

/** The owner's pages in each state, with this text in every untrusted place. */
export function ownerPages(text: string, page: PageContext): readonly Page[] {
  const search: PushSearch = { text, state: "expired", kind: "qr", order: "latest", page: 2 };
  const inList = pushesNamed(text).map((push, id) => ({ ...push, id, urlToken: id === 0 ? null : push.urlToken }));
  const listed = pushesNamed(text).map((push) => ({ push, link: `https://push.example/p/${text}` }));
  const files = [{ filename: text, contentType: text, sizeBytes: 1 }];
  const trail = { files, emails: new Map([[1, text]]), nowMs };
  const pushBaseUrl = "https://push.example";
  const lastViews = new Map([[1, nowMs]]);
  const group = { id: 1, name: text };
  const full = {
    search,
    groups: [group, group],
    pushes: inList,
    lastViews,
    pushBaseUrl,
    hasMore: true,
    isDeleted: false,
    nowMs,
  };
  const empty = {
    groups: [],
    pushes: [],
    lastViews: new Map<number, number>(),
    pushBaseUrl,
    hasMore: false,
    stopped: true,
    metSealedLabel: false,
    isDeleted: true,
    nowMs,
  };
  return [
    dashboardView({ ...full, stopped: true, metSealedLabel: true }, page),
    dashboardView({ ...full, search: { ...search, page: 200 }, stopped: false, metSealedLabel: false }, page),
    dashboardView({ ...empty, search }, page),
    dashboardView({ ...empty, search: { text: "", state: "all", kind: null, order: "newest", page: 1 } }, page),
    ...activityPages(text, page, inList),
    deletionView({ selected: inList, returnPath: `/p?q=${text}` }, page),
    deletionView({ selected: [], returnPath: `/p?q=${text}` }, page),
    ...listed.map((each) =>
      auditView({ ...trail, listed: each, events: eventsWith(text), page: 2, hasMore: true }, page),
    ),
    ...listed
      .slice(0, 1)
      .map((each) => auditView({ ...trail, listed: each, events: [], page: 9, hasMore: false }, page)),
  ];
}
