import type { Fetch } from "../../accounts/sso/provider.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError, errorCode } from "../../base/errors.ts";
import { reasonOfCode } from "../../base/system-error.ts";
import type { SingleSignOnSettings } from "../../config/config.ts";
import { isGoogle, isMicrosoft } from "../../config/issuers.ts";
import { type Finding, fail, ok } from "./finding.ts";

/** What the providers that companies use say about addresses, and what to change there. In docs/single-sign-on/, click by click. */
const mappings: readonly { readonly is: (issuer: string) => boolean; readonly sentence: string }[] = [
  {
    is: isMicrosoft,
    sentence:
      "Microsoft never sends email_verified: add the optional claims email and xms_edov to the ID token, or set PWP__OIDC__TRUST_EMAIL=issuer and " +
      "PWP__OIDC__ALLOWED_DOMAINS.",
  },
  {
    is: isGoogle,
    sentence: "Google sends email_verified: true; PWP__OIDC__ALLOWED_DOMAINS is compared with its claim hd.",
  },
  {
    is: (issuer) => /^https:\/\/[^/]+\.okta(?:preview|-emea)?\.com(?:\/|$)/.test(issuer),
    sentence: "Okta sends email_verified: true for addresses that it has verified.",
  },
  {
    is: (issuer) => issuer.includes("/realms/"),
    sentence:
      'Keycloak sends email_verified: false for users whom an administrator made, and they are refused: switch "Email verified" on there for each of them.',
  },
  {
    is: (issuer) => issuer.includes("/application/o/"),
    sentence:
      "authentik sends email_verified: false since 2025.10, and its users are refused: give the scope email a mapping that sends true, if they cannot " +
      "change their own address.",
  },
  {
    is: () => true,
    sentence:
      "It has to send email and email_verified: true; if it sends no email_verified at all, set PWP__OIDC__TRUST_EMAIL=issuer and PWP__OIDC__ALLOWED_DOMAINS.",
  },
];

/** Whether the provider answers as the issuer of the settings, and which claims it has to send. No findings without single sign-on. */
export async function checkSignOn(
  settings: SingleSignOnSettings | undefined,
  deps: { readonly clock: Clock; readonly fetch: Fetch },
): Promise<Finding[]> {
  if (settings === undefined) return [];
  const name = "single sign-on";
  const { issuer } = settings;
  // Imported on demand: few commands need the library.
  const { createProvider } = await import("../../accounts/sso/provider.ts");
  try {
    await createProvider(settings, deps).signOnUrl({ state: "", nonce: "", verifier: "" });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [fail(name, `${issuer} cannot be used: check PWP__OIDC__ISSUER.${sentenceOf(error.cause)}`)];
  }
  const mapping = mappings.find(({ is }) => is(issuer));
  return [ok(name, `${issuer} answers. ${mapping?.sentence}`)];
}

/** What the provider did, and what the network says of it. */
function sentenceOf(failure: unknown): string {
  if (!(failure instanceof Error)) return "";
  const reason = networkReason(failure.cause);
  return ` ${failure.message.replace(/\.$/, "")}${reason === undefined ? "" : ` (${reason})`}.`;
}

function networkReason(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return reasonOfCode(errorCode(error) ?? "") ?? networkReason(error.cause);
}
