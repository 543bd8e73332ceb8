import { brandingParts } from "../../branding/branding.ts";
import type { PageRoute, SignedInRequest } from "../request.ts";
import { bulkEndingPath, showBulkEnding, startBulkEnding } from "./bulk-ending.tsx";
import { adminPaths } from "./frame.tsx";
import { jobPaths, retryDeletions, retryEmails, showJobs } from "./jobs.tsx";
import { discardMail, retryMail, showMails } from "./mails.tsx";
import { showOverview } from "./overview.tsx";
import { deletePush, showPush } from "./push.tsx";
import { endPush, findPush, showPushes } from "./pushes.tsx";
import { saveRules, showRules } from "./rules.tsx";
import { showSettings } from "./settings.tsx";
import { resetTheme, setThemeAccent, setThemeLogo, setThemeName, setThemeStyle, showTheme } from "./theme.tsx";
import { showTrail } from "./trail.tsx";
import { changeUser, endUserLinks, endUserSessions, showUser, userActions } from "./user.tsx";
import { createUser, showUsers } from "./users.tsx";

const get = { method: "GET", group: "internal", access: "page_admin" } as const;
const post = { method: "POST", group: "internal", access: "page_admin" } as const;
const { overview, users, pushes, mails, jobs, settings, rules, theme, trail } = adminPaths;

/** The administrators' pages. To everybody else none of them exists. */
export const adminRoutes: readonly PageRoute[] = [
  { ...get, path: overview, handler: showOverview },
  { ...get, path: users, handler: showUsers },
  { ...post, path: users, handler: createUser },
  { ...get, path: `${users}/:id`, handler: showUser },
  ...userActions.map((action) => ({
    ...post,
    path: `${users}/:id/${action}`,
    handler: (page: SignedInRequest) => changeUser(page, action),
  })),
  { ...post, path: `${users}/:id/sessions/end`, handler: endUserSessions },
  { ...post, path: `${users}/:id/links/end`, handler: endUserLinks, retrieval: true },
  { ...get, path: pushes, handler: showPushes },
  { ...get, path: `${pushes}/find`, handler: (page: SignedInRequest) => page.redirect(pushes) },
  { ...post, path: `${pushes}/find`, handler: findPush },
  { ...get, path: `${pushes}/:id`, handler: showPush },
  { ...post, path: `${pushes}/:id/delete`, handler: deletePush, retrieval: true },
  { ...post, path: `${pushes}/:id/expire`, handler: endPush, retrieval: true },
  { ...get, path: bulkEndingPath, handler: showBulkEnding },
  { ...post, path: bulkEndingPath, handler: startBulkEnding, retrieval: true },
  { ...get, path: mails, handler: showMails },
  { ...post, path: `${mails}/:id/retry`, handler: retryMail },
  { ...post, path: `${mails}/:id/discard`, handler: discardMail },
  { ...get, path: jobs, handler: showJobs },
  { ...post, path: jobPaths.retryEmails, handler: retryEmails },
  { ...post, path: jobPaths.retryDeletions, handler: retryDeletions },
  { ...get, path: settings, handler: showSettings },
  { ...get, path: rules, handler: showRules },
  { ...post, path: rules, handler: saveRules, keepsTyped: true },
  { ...get, path: theme, handler: showTheme },
  { ...post, path: `${theme}/name`, handler: setThemeName, keepsTyped: true },
  { ...post, path: `${theme}/logo`, handler: setThemeLogo, streamsFiles: true },
  { ...post, path: `${theme}/accent`, handler: setThemeAccent, keepsTyped: true },
  { ...post, path: `${theme}/style`, handler: setThemeStyle, keepsTyped: true },
  ...brandingParts.map((part) => ({
    ...post,
    path: `${theme}/${part}/reset`,
    handler: (page: SignedInRequest) => resetTheme(page, part),
  })),
  { ...get, path: trail, handler: showTrail },
];
