import type { FieldProblems } from "../../base/errors.ts";
import type { KindName } from "../../base/push-kinds.ts";
import type { KindSettings } from "../../config/config.ts";
import type { Messages } from "../../i18n/i18n.ts";

/** What a person typed, as it was typed: a form sent back shows all of it again. */
export interface PushValues {
  readonly payload: string;
  readonly passphrase: string;
  readonly expireAfterDays: string;
  readonly expireAfterViews: string;
  readonly retrievalStep: boolean;
  readonly deletableByViewer: boolean;
  readonly name: string;
  readonly note: string;
  readonly notifyOnView: boolean;
}

export interface NewPushValues extends PushValues {
  /** Addresses, separated by commas. */
  readonly notifyEmailsTo: string;
  /** The tag of a language. */
  readonly notifyEmailsToLocale: string;
}

export type NewPushField = keyof NewPushValues | "kind" | "files";

/** What whoever looks at the form can have mailed. */
export interface OfferedMails {
  readonly links: boolean;
  /** Where the mails of views go; null: nowhere. */
  readonly viewsTo: string | null;
  /** They would go to the reader's address if it were confirmed. */
  readonly viewsAfterConfirmation: boolean;
}

/** Bounds that the form names; characters are code points. */
export interface NewPushLimits {
  readonly payloadCharactersMax: number;
  readonly passphraseCharactersMax: number;
  readonly nameCharactersMax: number;
  readonly noteCharactersMax: number;
  readonly maxFileUploads: number;
  readonly pushBytesMax: number;
  /** Addresses that a push's link goes to in all, and those that somebody may have links mailed to on one day. */
  readonly recipientsMax: number;
  readonly recipientsDailyMax: number;
}

export interface NewPushModel {
  readonly kind: KindName;
  /** The kinds that are switched on, in the order of the tabs. */
  readonly kinds: readonly KindName[];
  readonly settings: Pick<KindSettings, "days" | "views" | "retrievalStep" | "deletableByViewer">;
  readonly limits: NewPushLimits;
  readonly values: NewPushValues;
  /** One sentence a field, in the language of the page (`describeProblems`). */
  readonly problems: Readonly<Partial<Record<NewPushField, string>>>;
  /** The server could not take the push just now; everything typed is here for another try. */
  readonly unavailable: boolean;
  /** False: a file push needs an account that nobody is signed in to. */
  readonly mayAttachFiles: boolean;
  readonly mails: OfferedMails;
}

/** The values of a form nobody has touched. @param locale of the page. */
export function initialValues(settings: NewPushModel["settings"], locale: string): NewPushValues {
  return {
    payload: "",
    passphrase: "",
    expireAfterDays: String(settings.days.default),
    expireAfterViews: String(settings.views.default),
    retrievalStep: settings.retrievalStep.default,
    deletableByViewer: settings.deletableByViewer.default,
    name: "",
    note: "",
    notifyEmailsTo: "",
    notifyEmailsToLocale: locale,
    notifyOnView: false,
  };
}

type Form = Pick<NewPushModel, "kind" | "settings" | "limits">;

const fields: readonly NewPushField[] = [
  "kind",
  "payload",
  "files",
  "expireAfterDays",
  "expireAfterViews",
  "passphrase",
  "retrievalStep",
  "deletableByViewer",
  "name",
  "note",
  "notifyEmailsTo",
  "notifyEmailsToLocale",
  "notifyOnView",
];

/** The domain's problems, by field, as sentences of the page's language. */
export function describeProblems(found: FieldProblems, form: Form, messages: Messages): NewPushModel["problems"] {
  const described: Partial<Record<NewPushField, string>> = {};
  for (const field of fields) {
    if (found[field] !== undefined) described[field] = sentence(field, form, messages);
  }
  return described;
}

/** What is wrong when the files of a push are more bytes than one push may have. */
export function filesTooLarge(form: Form, messages: Messages): NewPushModel["problems"] {
  return { files: messages.problems.filesTooLarge({ size: messages.formats.bytes(form.limits.pushBytesMax) }) };
}

/** @param limits of the form that asks for them. */
export function recipientsProblem(
  { recipientsMax: count, recipientsDailyMax: daily }: Pick<NewPushLimits, "recipientsMax" | "recipientsDailyMax">,
  { notices }: Messages,
): string {
  return notices.toProblem({ count, daily });
}

function sentence(field: NewPushField, { kind, settings, limits }: Form, messages: Messages): string {
  const { problems, notices } = messages;
  switch (field) {
    case "kind":
      return problems.kind;
    case "payload":
      if (kind === "url") return problems.url({ max: limits.payloadCharactersMax });
      if (kind === "file") return problems.tooLong({ max: limits.payloadCharactersMax });
      return problems.payload({ max: limits.payloadCharactersMax });
    case "files":
      return problems.files({ count: limits.maxFileUploads });
    case "expireAfterDays":
      return problems.range({ min: settings.days.min, max: settings.days.max });
    case "expireAfterViews":
      return problems.range({ min: settings.views.min, max: settings.views.max });
    case "passphrase":
      return problems.tooLong({ max: limits.passphraseCharactersMax });
    case "name":
      return problems.tooLong({ max: limits.nameCharactersMax });
    case "note":
      return problems.tooLong({ max: limits.noteCharactersMax });
    case "notifyEmailsTo":
      return recipientsProblem(limits, messages);
    case "notifyOnView":
      return notices.onViewProblem;
    case "retrievalStep":
    case "deletableByViewer":
    case "notifyEmailsToLocale":
      return problems.field;
  }
}
