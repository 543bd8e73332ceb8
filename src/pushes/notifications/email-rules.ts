import { normalizeEmail } from "../../base/email.ts";
import type { FieldProblems } from "../../base/errors.ts";
import { addProblem, type Problems } from "../../base/field-problems.ts";
import type { Actor } from "../actor.ts";
import { pushLimits } from "../create/limits.ts";
import type { PushDeps } from "../deps.ts";
import type { CreatePush } from "../push.ts";

/** The maximum length of the field: five addresses of the maximum length and the blanks between them. */
const recipientsCharactersMax = 2_000;
const localeCharactersMax = 35;
const { recipientsMax } = pushLimits;

export const keyNotKnown = "must be empty: the server does not have the key in the link of an end-to-end push.";

export type AskedLinkDelivery = Pick<CreatePush, "notifyEmailsTo" | "notifyEmailsToLocale">;

export function asksForLinkDelivery({ notifyEmailsTo = "" }: AskedLinkDelivery): boolean {
  return notifyEmailsTo.trim() !== "";
}

/** The addresses of a valid request, in the spelling of `normalizeEmail`. */
export function recipientsOf(request: AskedLinkDelivery): readonly string[] {
  if (!asksForLinkDelivery(request)) return [];
  return splitRecipients(request.notifyEmailsTo ?? "").flatMap((address) => normalizeEmail(address) ?? []);
}

export function checkRecipients(
  problems: Problems,
  { notifyEmailsTo = "", notifyEmailsToLocale = "" }: AskedLinkDelivery,
): void {
  const problem = recipientsProblem(notifyEmailsTo);
  if (problem !== undefined) addProblem(problems, "notifyEmailsTo", problem);
  const locale = notifyEmailsToLocale.trim();
  if (locale !== "" && !isLanguage(locale)) addProblem(problems, "notifyEmailsToLocale", "is not a known language.");
}

function recipientsProblem(recipients: string): string | undefined {
  if (recipients.trim() === "") return "can't be blank.";
  if (recipients.length > recipientsCharactersMax) return `must have at most ${recipientsCharactersMax} characters.`;
  const given = splitRecipients(recipients);
  if (given.includes("")) return "has a comma without an address beside it.";
  if (given.length > recipientsMax) return `can't have more than ${recipientsMax} addresses.`;
  const addresses = given.map(normalizeEmail);
  if (addresses.includes(undefined)) return "must be email addresses, separated by commas.";
  return new Set(addresses).size < addresses.length ? "names an address more than once." : undefined;
}

/** Accepts any language that has a name: clients offer more languages than this server's emails have. */
function isLanguage(tag: string): boolean {
  if (tag.length > localeCharactersMax) return false;
  try {
    // Made when a language is given: loading the names costs an idle server several MB.
    const languageNames = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });
    return languageNames.of(tag.replaceAll("_", "-")) !== undefined;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

export function findLinkDeliveryProblems(
  { emails }: PushDeps,
  request: AskedLinkDelivery & Pick<CreatePush, "encryption">,
  { user }: Pick<Actor, "user">,
): FieldProblems {
  const problems: Problems = {};
  if (!asksForLinkDelivery(request)) {
    const { notifyEmailsToLocale = "" } = request;
    if (notifyEmailsToLocale.trim() !== "") addProblem(problems, "notifyEmailsTo", "can't be blank with a language.");
    return problems;
  }
  if (!emails.mailsLinks) addProblem(problems, "notifyEmailsTo", "This server does not send links by email.");
  else if (user === null) addProblem(problems, "notifyEmailsTo", "needs an API token or a signed-in user.");
  else if (request.encryption !== undefined) addProblem(problems, "notifyEmailsTo", keyNotKnown);
  else checkRecipients(problems, request);
  return problems;
}

export function splitRecipients(recipients: string): readonly string[] {
  return recipients.split(",").map((address) => address.trim());
}
