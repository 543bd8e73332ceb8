import type { BrowserContext, Page } from "playwright-core";
import type { Site } from "./site.ts";
import type { VisitOptions } from "./visit.ts";

/** A visit of the site by host name: browsers do not create passkeys for IP addresses. */
export function underItsName(site: Site, options: VisitOptions): VisitOptions {
  const url = new URL(site.baseUrl);
  url.hostname = "localhost";
  return { ...options, baseURL: url.origin, allowedOrigins: [url.origin] };
}

/**
 * A virtual authenticator in the browser, with automatic user verification.
 * @param isUserVerified false: as if its user could not be verified, or cancelled.
 */
export async function addPasskeyProvider(context: BrowserContext, page: Page, isUserVerified = true): Promise<void> {
  const devTools = await context.newCDPSession(page);
  await devTools.send("WebAuthn.enable");
  await devTools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  });
}
