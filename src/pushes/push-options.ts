import type { FieldProblems } from "../base/errors.ts";
import { addProblem, type Problems } from "../base/field-problems.ts";
import type { KindSettings } from "../config/config.ts";
import type { KindOption } from "../config/topics/kinds.ts";
import type { Actor } from "./actor.ts";
import type { PushEmails } from "./notifications/push-emails.ts";
import { optionsBy, type PushOption, type PushOptions, pushOptions } from "./store/tables.ts";

interface OptionRule {
  /**
   * The callers who may switch it on. `confirmed_owner`: a user with a confirmed email address; `notified_owner`: such a user,
   * on a server that sends email.
   */
  readonly setBy: "anybody" | "owner" | "confirmed_owner" | "notified_owner";
  /** The callers who get it in answers of the API. Owners see every option on their pages and in their data export. */
  readonly answeredTo: "everybody" | "owner" | "nobody";
  /** Whether pushes of an import source have it. If not, it is off for imported pushes. */
  readonly isImported: boolean;
  /** The field of a request, in the documentation of the API. */
  readonly description: string;
}

/**
 * All decisions about each option of a push. Limits, request and answer schemas, presenters and exports derive from them;
 * `pages/push-form/options.ts` has the words about each, for every page that shows or changes options.
 */
export const optionRules = {
  deletableByViewer: {
    setBy: "anybody",
    answeredTo: "everybody",
    isImported: true,
    description: "Default: the server's for this kind.",
  },
  retrievalStep: {
    setBy: "anybody",
    answeredTo: "everybody",
    isImported: true,
    description: "People are asked to click before the secret is shown and the view is counted.",
  },
  notifyOnView: {
    // Strangers trigger view notifications, so they are sent only to confirmed addresses.
    setBy: "notified_owner",
    answeredTo: "nobody",
    isImported: false,
    description:
      "An extension of Sealpush: the owner gets an email for each counted view by another person. Needs a token " +
      "whose user has confirmed their email address (on the account's page), and a server that sends email. Default: false.",
  },
  senderShown: {
    // Recipients trust the address, and anybody can sign up with another person's.
    setBy: "confirmed_owner",
    answeredTo: "owner",
    isImported: false,
    description:
      "An extension of Sealpush: everybody with the link sees the owner's current confirmed email address, before and after " +
      "opening. Needs a token whose user has confirmed their email address. Default: false.",
  },
} as const satisfies Readonly<Record<PushOption, OptionRule>>;

export type OptionReader = OptionRule["answeredTo"];
export type OptionAnsweredTo<Reader extends OptionReader> = {
  [Option in PushOption]: (typeof optionRules)[Option]["answeredTo"] extends Reader ? Option : never;
}[PushOption];

/** @returns the options that these callers get in answers. */
export function optionsAnsweredTo<Reader extends OptionReader>(...readers: readonly Reader[]) {
  const all = Object.keys(optionRules) as PushOption[];
  const answered = all.filter((option) => readers.some((reader) => reader === optionRules[option].answeredTo));
  return answered as OptionAnsweredTo<Reader>[];
}

export type PublicOptions = Pick<PushOptions, OptionAnsweredTo<"everybody">>;
const publicNames = optionsAnsweredTo("everybody");

export function publicOptions(options: PushOptions): PublicOptions {
  const found: Partial<Record<PushOption, boolean>> = {};
  for (const option of publicNames) found[option] = options[option];
  return found as PublicOptions;
}

type ImportedOption = {
  [Option in PushOption]: (typeof optionRules)[Option]["isImported"] extends true ? Option : never;
}[PushOption];

export function importedOptions(source: Pick<PushOptions, ImportedOption>): PushOptions {
  const imported: Partial<PushOptions> = source;
  return optionsBy((option) => optionRules[option].isImported && imported[option] === true);
}

/**
 * An option without settings of its own is offered everywhere, and off.
 * @returns whether such a push may have the option, and its value when the request does not include it.
 */
export function optionSettings(option: PushOption, kind: KindSettings, isOwned: boolean) {
  const ofKind: Partial<Record<PushOption, KindSettings[KindOption]>> = kind;
  const { offered, default: byDefault } = ofKind[option] ?? { offered: true, default: false };
  return { offered: offered && (isOwned || optionRules[option].setBy === "anybody"), default: byDefault };
}

/**
 * Finds the options that this caller may not switch on. Switching off is always allowed.
 * @param current the options of the push that is edited.
 */
export function findOptionProblems(
  { emails }: { readonly emails: PushEmails },
  request: Partial<PushOptions>,
  actor: Pick<Actor, "user">,
  current?: PushOptions,
): FieldProblems | Promise<FieldProblems> {
  const asked = pushOptions.keys.filter((option) => request[option] === true && current?.[option] !== true);
  return asked.length === 0 ? {} : findSetterProblems(asked, emails, actor);
}

async function findSetterProblems(
  asked: readonly PushOption[],
  emails: PushEmails,
  actor: Pick<Actor, "user">,
): Promise<FieldProblems> {
  const problems: Problems = {};
  for (const option of asked) {
    const problem = await setterProblem(optionRules[option].setBy, emails, actor);
    if (problem !== undefined) addProblem(problems, option, problem);
  }
  return problems;
}

async function setterProblem(
  setBy: OptionRule["setBy"],
  emails: PushEmails,
  { user }: Pick<Actor, "user">,
): Promise<string | undefined> {
  if (setBy === "anybody") return undefined;
  if (setBy === "notified_owner" && !emails.notifiesOfViews) return "This server does not send email.";
  if (user === null) return "needs an API token or a signed-in user.";
  if (setBy === "owner") return undefined;
  if (user.isService === true) return "needs a confirmed email address, which a service account does not have.";
  const owner = await emails.findOwner(user.id);
  return owner?.isConfirmed === true
    ? undefined
    : "needs a confirmed email address: confirm it on your account's page.";
}
