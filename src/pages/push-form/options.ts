import { type KindOption, kindOptions } from "../../config/topics/kinds.ts";
import type { Messages } from "../../i18n/i18n.ts";
import type { PushOption } from "../../pushes/pushes.ts";
import type { PushForm, SentFields } from "./form.ts";
import { ruleHint, said } from "./rule-hints.ts";

interface OptionField {
  /** The group of the form that has it. */
  readonly group: "options" | "sender" | "mail";
  readonly label: (messages: Messages) => string;
  readonly hint: (form: PushForm, messages: Messages) => string;
  /** What the folded group says where the option is chosen. */
  readonly whenSet: (messages: Messages) => string;
  readonly problem: (form: PushForm, messages: Messages) => string;
  readonly isOffered: (form: PushForm) => boolean;
  /** What a form of a new push that nobody has touched, or that was sent without this field, has chosen. */
  readonly initial: (form: PushForm, sent: SentFields) => boolean;
}

const ofKind = (option: KindOption) => ({
  group: "options" as const,
  isOffered: ({ settings }: PushForm) => settings[option].offered,
  initial: ({ settings }: PushForm) => settings[option].default,
  problem: (_: PushForm, { problems }: Messages) => problems.field,
});

/**
 * The words about each option of a push and its place in the forms, in the order of the pages. The forms of a new push and of
 * an edit, the account's defaults and the audit page read them, so that an option without words does not compile.
 */
export const optionFields: Readonly<Record<PushOption, OptionField>> = {
  retrievalStep: {
    ...ofKind("retrievalStep"),
    label: ({ newPush }) => newPush.retrievalStep,
    hint: (_, { newPush }) => newPush.retrievalStepHint,
    whenSet: ({ newPush }) => newPush.set.retrievalStep,
  },
  deletableByViewer: {
    ...ofKind("deletableByViewer"),
    label: ({ newPush }) => newPush.deletable,
    hint: (_, { newPush }) => newPush.deletableHint,
    whenSet: ({ newPush }) => newPush.set.deletable,
  },
  senderShown: {
    group: "sender",
    isOffered: ({ mails }) => mails.sender !== null,
    // A form that was sent without the box has not chosen it.
    initial: ({ senderShown }, sent) => senderShown && Object.keys(sent).length === 0,
    label: ({ newPush }) => newPush.sender,
    hint: ({ mails }, { newPush }) => newPush.senderHint({ email: mails.sender ?? "" }),
    whenSet: ({ newPush }) => newPush.set.sender,
    problem: (_, { pushEmails }) => pushEmails.onViewProblem,
  },
  notifyOnView: {
    group: "mail",
    isOffered: ({ mails }) => mails.viewsTo !== null,
    initial: ({ policy }) => policy.notifyOnViewRequired,
    label: ({ pushEmails }) => pushEmails.onView,
    whenSet: ({ newPush }) => newPush.set.notify,
    hint: ({ mails, policy }, messages) =>
      said(messages.pushEmails.onViewHint({ email: mails.viewsTo ?? "" }), ruleHint("notifyOnView", policy, messages)),
    problem: ({ policy }, messages) =>
      said(messages.pushEmails.onViewProblem, ruleHint("notifyOnView", policy, messages)),
  },
};

export const optionNames = Object.keys(optionFields) as readonly PushOption[];

export function byOption<Value>(choose: (option: PushOption) => Value): Record<PushOption, Value> {
  return Object.fromEntries(optionNames.map((option) => [option, choose(option)])) as Record<PushOption, Value>;
}

/** A value for each option that has settings for each kind. */
export function byKindOption<Value>(choose: (option: KindOption) => Value): Record<KindOption, Value> {
  return Object.fromEntries(kindOptions.map((option) => [option, choose(option)])) as Record<KindOption, Value>;
}
