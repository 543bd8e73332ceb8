import { describe, expect, it } from "vitest";
import { findHtmlRoutes } from "../support/html-routes.ts";
import { testLayout } from "../support/layout-tests.ts";
import { pageStates } from "../support/page-states.ts";
import { openSite } from "../support/site.ts";

/** Routes that no state shows, and why. */
const exceptions: Readonly<Record<string, string>> = {
  "/admin/pushes/find": "redirects to the list",
  "/first_run": "closed once there is an administrator; entry.test.ts checks it",
  "/p/:token/audit/download": "a file",
  "/p/:token/preview/opened": "JSON for the script of the link's page",
  "/p/:token/preview/qr": "an image",
  "/p/:token/r/preview": "the page of /p/:token/preview",
  "/p/new": "the page of /",
  "/rails/active_storage/*": "the page of /pfb/*",
  "/requests/:token/answers": "needs a request that was made in the browser; requests.test.ts checks it",
  "/users/auth/oidc/callback": "needs a provider; single-sign-on.test.ts checks it",
  "/users/auth/oidc/confirm": "needs a provider; single-sign-on.test.ts checks it",
  "/users/edit/data": "a file",
  "/users/factors": "changes the account; layout-factors.test.ts checks it",
  "/users/factors/authenticator_app": "changes the account; layout-factors.test.ts checks it",
  "/users/second_factor": "changes the account; layout-factors.test.ts checks it",
  "/users/single_sign_on": "needs a provider; single-sign-on.test.ts checks it",
  "/users/break_glass": "needs a link from a shell; only flows check it",
  "/users/single_sign_on/code": "needs a provider that does not say when somebody signed in; only flows check it",
};

const site = openSite();

describe("layout and accessibility in English", () => {
  const paths = new Set<string>();
  testLayout(site, "en", pageStates, paths);

  it("are checked on the page of every route", async () => {
    const routes = await findHtmlRoutes();
    const shown = (pattern: string) => {
      const address = new RegExp(`^${pattern.replace(/:\w+|\*/g, "[^/]+")}$`);
      // "/requests/new" does not count as "/requests/:token".
      return [...paths].some((path) => path === pattern || (address.test(path) && !routes.includes(path)));
    };
    const notShown = routes.filter((pattern) => !shown(pattern));
    expect(notShown.sort()).toEqual(Object.keys(exceptions).sort());
  });
});
