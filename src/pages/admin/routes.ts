import { brandingParts } from "../../branding/branding.ts";
import type { AdminSection } from "../page.ts";
import { deletePreset, groupPresets, instancePresets, savePreset, showPresets } from "../presets/presets.tsx";
import type { PageRoute, SignedInRequest } from "../request.ts";
import { bulkEndingPath, showBulkEnding, startBulkEnding } from "./bulk-ending.tsx";
import { adminPaths, otherRulesPath } from "./frame.tsx";
import { deleteGroup } from "./group-deletion.tsx";
import { addMembers, changeGroup, createGroup, removeMember, showGroup, showGroups } from "./groups.tsx";
import { jobPaths, retryDeletions, retryEmails, showJobs } from "./jobs.tsx";
import { discardMail, retryMail, showMails } from "./mails.tsx";
import { setSignUp, showOverview, signUpSwitchPath } from "./overview.tsx";
import { deletePush, showPush } from "./push.tsx";
import { endPush, findPush, showPushes } from "./pushes.tsx";
import { groupRules, instanceRules, rulesOfEverybodyElse, saveRules, showRules } from "./rules.tsx";
import { createServiceToken, revokeServiceToken, showServicePushes, showServiceTokens } from "./service-tokens.tsx";
import { endSessions, sessionsEndPath, showSessions } from "./sessions.tsx";
import { showSettings } from "./settings.tsx";
import { resetTheme, setTheme, showTheme } from "./theme.tsx";
import { showTrail } from "./trail.tsx";
import { changeUser, endUserLinks, endUserSessions, showUser, userActions } from "./user.tsx";
import { createUser, showUsers } from "./users.tsx";

const get = { method: "GET", group: "internal", access: "page_admin" } as const;
const post = { method: "POST", group: "internal", access: "page_admin" } as const;
const { overview, users, sessions, groups, pushes, mails, jobs, settings, rules, presets, theme, trail } = adminPaths;

const ruleTargets = [
  [rules, instanceRules],
  [otherRulesPath, rulesOfEverybodyElse],
  [`${groups}/:id/rules`, groupRules],
] as const;

const presetTargets = [
  [presets, instancePresets],
  [`${groups}/:id/presets`, groupPresets],
] as const;

/** The administrators' pages. To everybody else none of them exists. */
export const adminRoutes: readonly PageRoute[] = [
  { ...get, path: overview, handler: showOverview, section: "overview" },
  { ...post, path: signUpSwitchPath, handler: setSignUp },
  { ...get, path: users, handler: showUsers, section: "users" },
  { ...post, path: users, handler: createUser },
  { ...get, path: `${users}/:id`, handler: showUser },
  ...userActions.map((action) => ({
    ...post,
    path: `${users}/:id/${action}`,
    handler: changeUser(action),
  })),
  { ...post, path: `${users}/:id/sessions/end`, handler: endUserSessions },
  { ...post, path: `${users}/:id/links/end`, handler: endUserLinks, retrieval: true },
  { ...get, path: sessions, handler: showSessions, section: "sessions" },
  { ...post, path: sessionsEndPath, handler: endSessions },
  { ...get, path: groups, handler: showGroups, section: "groups" },
  { ...post, path: groups, handler: createGroup },
  { ...get, path: `${groups}/:id`, handler: showGroup },
  { ...post, path: `${groups}/:id`, handler: changeGroup },
  { ...post, path: `${groups}/:id/members`, handler: addMembers },
  { ...post, path: `${groups}/:id/members/remove`, handler: removeMember },
  { ...post, path: `${groups}/:id/delete`, handler: deleteGroup, retrieval: true },
  { ...get, path: `${groups}/:id/tokens`, handler: showServiceTokens },
  { ...post, path: `${groups}/:id/tokens`, handler: createServiceToken },
  { ...post, path: `${groups}/:id/tokens/revoke`, handler: revokeServiceToken },
  { ...get, path: `${groups}/:id/pushes`, handler: showServicePushes },
  { ...get, path: pushes, handler: showPushes, section: "pushes" },
  { ...get, path: `${pushes}/find`, handler: (page: SignedInRequest) => page.redirect(pushes) },
  { ...post, path: `${pushes}/find`, handler: findPush },
  { ...get, path: `${pushes}/:id`, handler: showPush },
  { ...post, path: `${pushes}/:id/delete`, handler: deletePush, retrieval: true },
  { ...post, path: `${pushes}/:id/expire`, handler: endPush, retrieval: true },
  { ...get, path: bulkEndingPath, handler: showBulkEnding },
  { ...post, path: bulkEndingPath, handler: startBulkEnding, retrieval: true },
  { ...get, path: mails, handler: showMails, section: "mails" },
  { ...post, path: `${mails}/:id/retry`, handler: retryMail },
  { ...post, path: `${mails}/:id/discard`, handler: discardMail },
  { ...get, path: jobs, handler: showJobs, section: "jobs" },
  { ...post, path: jobPaths.retryEmails, handler: retryEmails },
  { ...post, path: jobPaths.retryDeletions, handler: retryDeletions },
  { ...get, path: settings, handler: showSettings, section: "settings" },
  ...ruleTargets.flatMap(([path, target]): readonly PageRoute[] => [
    { ...get, path, handler: showRules(target), ...(path === rules && { section: "rules" }) },
    { ...post, path, handler: saveRules(target), keepsTyped: true },
  ]),
  ...presetTargets.flatMap(([path, target]): readonly PageRoute[] => [
    { ...get, path, handler: showPresets(target), ...(path === presets && { section: "presets" }) },
    { ...post, path, handler: savePreset(target) },
    { ...post, path: `${path}/delete`, handler: deletePreset(target) },
  ]),
  { ...get, path: theme, handler: showTheme, section: "theme" },
  ...brandingParts.flatMap((part): PageRoute[] => [
    {
      ...post,
      path: `${theme}/${part}`,
      handler: setTheme(part),
      ...(part === "logo" ? { streamsFiles: true } : { keepsTyped: true }),
    },
    { ...post, path: `${theme}/${part}/reset`, handler: resetTheme(part) },
  ]),
  { ...get, path: trail, handler: showTrail, section: "trail" },
];

/** In the order of the routes. */
export const adminSections: readonly AdminSection[] = adminRoutes.flatMap(({ section, path }) =>
  section === undefined ? [] : [{ name: section, path }],
);
