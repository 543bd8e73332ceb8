import Type, { type TBoolean, type TOptional } from "typebox";
import type { OwnedPush, Push, PushOption } from "../pushes/pushes.ts";
import { type WireName, wireName } from "./errors.ts";

/**
 * The options of a push outside of the domain, each with its description in a request. Request and answer schemas, readers,
 * presenters and exports are derived from these two records. Each option is in exactly one of them, or it does not compile.
 */
const answeredOptions = {
  deletableByViewer: "Default: the server's for this kind.",
  retrievalStep: "People are asked to click before the secret is shown and the view is counted.",
} satisfies Partial<Record<PushOption & keyof Push, string>>;

/** Options that no answer of the API has. */
const unansweredOptions = {
  notifyOnView:
    "An extension of Sealpush: the owner gets an email for each counted view by another person. Needs a token " +
    "whose user has confirmed their email address (on the account's page), and a server that sends mails. Default: false.",
} satisfies Record<Exclude<PushOption, keyof typeof answeredOptions>, string>;

const allOptions: Readonly<Record<PushOption, string>> = { ...answeredOptions, ...unansweredOptions };

type ByWireName<Option extends PushOption, Value> = { readonly [Name in Option as WireName<Name>]: Value };

/** Options with their wire names, which are made once: requests and answers are mapped on the hot path. */
function withWireNames<Option extends PushOption>(options: Readonly<Record<Option, string>>) {
  return (Object.keys(options) as Option[]).map((option) => ({ option, name: wireName(option) }));
}

/** @returns a function that makes an object with a value for each of `options`, by wire name. */
function mapOptions<Option extends PushOption>(options: Readonly<Record<Option, string>>) {
  const names = withWireNames(options);
  return <Value>(choose: (option: Option) => Value) => {
    const mapped: Record<string, Value> = {};
    for (const { option, name } of names) mapped[name] = choose(option);
    return mapped as ByWireName<Option, Value>;
  };
}

const mapAnswered = mapOptions(answeredOptions);
const mapUnanswered = mapOptions(unansweredOptions);
const mapAll = mapOptions(allOptions);

const requestField = (option: PushOption): TOptional<TBoolean> =>
  Type.Optional(Type.Boolean({ description: allOptions[option] }));

/** In two parts for the order of the documented fields. */
export const answeredOptionFields = mapAnswered(requestField);
export const unansweredOptionFields = mapUnanswered(requestField);

/** Schemas of the options in an answer. */
export const optionAnswers = mapAnswered(() => Type.Boolean());

/** The options in an answer of the API. */
export function presentOptions(push: Push): ByWireName<keyof typeof answeredOptions, boolean> {
  return mapAnswered((option) => push[option]);
}

/** All options, for the push's owner. */
export function presentAllOptions(push: OwnedPush): ByWireName<PushOption, boolean> {
  return mapAll((option) => push[option]);
}

const readNames = withWireNames(allOptions);

/** @param given the values that a request has. */
export function readOptions(given: Partial<ByWireName<PushOption, boolean>>): Record<PushOption, boolean | undefined> {
  const options: Partial<Record<PushOption, boolean | undefined>> = {};
  for (const { option, name } of readNames) options[option] = given[name];
  return options as Record<PushOption, boolean | undefined>;
}
