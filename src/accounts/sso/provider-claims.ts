import { normalizeEmail } from "../../base/email.ts";
import { isFields } from "../../base/json.ts";
import type { SingleSignOnSettings } from "../../config/config.ts";
import { isGoogle, isMicrosoft } from "../../config/issuers.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What the provider sent about a user. */
export interface SentClaims {
  readonly idToken: Fields;
  /** undefined: not requested, because the ID token was enough, or the provider has no such endpoint. */
  readonly userInfo: Fields | undefined;
}

/** Why the claims are refused. `claim` and `value` say what the provider would have to send instead. */
export interface ClaimRefusal {
  readonly because: "unverified_email" | "domain" | "guest" | "unknown_groups" | "not_in_group" | "not_fresh";
  readonly claim: string;
  /** As JSON, bounded and without control characters; null: the claim was absent. */
  readonly value: string | null;
}

type TrustSettings = Pick<
  SingleSignOnSettings,
  "issuer" | "trustEmail" | "allowedDomains" | "groupsClaim" | "userGroup" | "adminGroup"
> & {
  /** The rules of a group depend on the groups claim. */
  readonly hasClaimedGroups?: boolean;
};

/** The user's address, normalised, if the provider proves it in the way that the operator trusts. */
export type ProvenEmail =
  | { readonly verifiedEmail: string }
  | { readonly verifiedEmail: undefined; readonly emailRefusal: ClaimRefusal };

export type ReadClaims = ProvenEmail & {
  readonly isAdministrator: boolean;
  /** The user's groups; undefined: nothing depends on them. */
  readonly groups: readonly string[] | undefined;
};

/** Whether the claims of the ID token are enough: those of a scope may only be in the UserInfo response (Core, section 5.4). */
export function needsUserInfo(idToken: Fields, settings: TrustSettings): boolean {
  const lacksGroups = usesGroups(settings) && idToken[settings.groupsClaim] === undefined;
  return idToken.email === undefined || (lacksGroups && !hasOverage(idToken, settings.groupsClaim));
}

/** Applies the operator's rules, which hold at every sign-on, also of a user who is known. */
export function readClaims(sent: SentClaims, settings: TrustSettings): ReadClaims | ClaimRefusal {
  const isGuest = settings.trustEmail === "issuer" && isMicrosoft(settings.issuer) && isOne(sent.idToken.acct);
  if (isGuest) return refusal("guest", "acct", sent.idToken.acct);
  const email = proveEmail(sent, settings);
  if (settings.allowedDomains.length > 0) {
    const refused = typeof email === "object" ? email : outsideDomains(email, sent, settings);
    if (refused !== undefined) return refused;
  }
  const groups = usesGroups(settings) ? groupsIn(sent, settings.groupsClaim) : [];
  if (!isList(groups)) return groups;
  if (settings.userGroup !== undefined && !groups.includes(settings.userGroup)) {
    const isSent = [sent.idToken, sent.userInfo ?? {}].some((claims) => Object.hasOwn(claims, settings.groupsClaim));
    return refusal("not_in_group", settings.groupsClaim, isSent ? groups : undefined);
  }
  const isAdministrator = settings.adminGroup !== undefined && groups.includes(settings.adminGroup);
  const read = { isAdministrator, groups: usesGroups(settings) ? groups : undefined };
  return typeof email === "string"
    ? { verifiedEmail: email, ...read }
    : { verifiedEmail: undefined, emailRefusal: email, ...read };
}

/** The address and its proof come from the same place: the ID token if it has an address. */
function placeOfEmail({ idToken, userInfo }: SentClaims): Fields {
  return idToken.email === undefined ? (userInfo ?? {}) : idToken;
}

/** Other claims, such as `upn` and `preferred_username`, are names that the provider's users may be able to choose. */
function proveEmail(sent: SentClaims, { issuer, trustEmail }: TrustSettings): string | ClaimRefusal {
  const place = placeOfEmail(sent);
  const email = typeof place.email === "string" ? normalizeEmail(place.email) : undefined;
  if (email === undefined) return refusal("unverified_email", "email", place.email);
  // Whatever is trusted otherwise: a provider that says that the address is not verified is right.
  for (const { email_verified: verified } of [place, sent.idToken]) {
    if (verified !== undefined && verified !== true) return refusal("unverified_email", "email_verified", verified);
  }
  if (place.email_verified === true) return email;
  const owned = isMicrosoft(issuer) ? place.xms_edov : undefined;
  if (owned !== undefined) return isOne(owned) ? email : refusal("unverified_email", "xms_edov", owned);
  return trustEmail === "issuer" ? email : refusal("unverified_email", "email_verified", undefined);
}

/** Google signs in everybody with an address of any kind; only `hd` says that the domain's organisation manages the user. */
function outsideDomains(
  email: string,
  sent: SentClaims,
  { issuer, allowedDomains }: TrustSettings,
): ClaimRefusal | undefined {
  const claim = isGoogle(issuer) ? "hd" : "email";
  const value = claim === "hd" ? placeOfEmail(sent).hd : email;
  const domain = claim === "hd" ? value : email.slice(email.lastIndexOf("@") + 1);
  const isAllowed = typeof domain === "string" && allowedDomains.includes(domain.toLowerCase());
  return isAllowed ? undefined : refusal("domain", claim, value);
}

export function usesGroups({ userGroup, adminGroup, hasClaimedGroups = false }: TrustSettings): boolean {
  return userGroup !== undefined || adminGroup !== undefined || hasClaimedGroups;
}

/** Microsoft leaves out the list if it is too long, and says so. Then the groups are unknown, which is not the same as none. */
function hasOverage(claims: Fields, claim: string): boolean {
  const { _claim_names: elsewhere, hasgroups: has } = claims;
  const isElsewhere = elsewhere !== undefined && (!isFields(elsewhere) || Object.hasOwn(elsewhere, claim));
  return isElsewhere || (claim === "groups" && has !== undefined && has !== false);
}

function groupsIn({ idToken, userInfo = {} }: SentClaims, claim: string): readonly string[] | ClaimRefusal {
  for (const claims of [idToken, userInfo]) {
    if (hasOverage(claims, claim)) {
      const marker = claims._claim_names === undefined ? "hasgroups" : "_claim_names";
      return refusal("unknown_groups", marker, claims[marker]);
    }
    const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    if (typeof value === "string") return [value];
    if (isList(value)) return value;
    if (value !== undefined) return refusal("unknown_groups", claim, value);
  }
  return [];
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** Microsoft spells `true` in several ways. */
function isOne(value: unknown): boolean {
  return value === true || value === 1 || value === "1" || value === "true";
}

const valueLengthMax = 60;

export function refusal(because: ClaimRefusal["because"], claim: string, value: unknown): ClaimRefusal {
  const text = value === undefined ? null : JSON.stringify(value).replace(/\p{C}/gu, "\u{fffd}");
  return {
    because,
    claim,
    value: text !== null && text.length > valueLengthMax ? `${text.slice(0, valueLengthMax)}...` : text,
  };
}
