import Type, { type TBoolean, type TOptional } from "typebox";
import {
  type OptionAnsweredTo,
  type OptionReader,
  optionRules,
  optionsAnsweredTo,
  type PresetSettings,
  type Push,
  type PushOption,
} from "../pushes/pushes.ts";
import { type WireName, wireName } from "./errors.ts";

/** The options of a push in requests and answers. `optionRules` decides which answers have an option. */

type ByWireName<Option extends PushOption, Value> = { readonly [Name in Option as WireName<Name>]: Value };

/** The options that these callers get, with their wire names: computed once, because every request and answer needs them. */
function withWireNames<Reader extends OptionReader>(...readers: readonly Reader[]) {
  return optionsAnsweredTo(...readers).map((option) => ({ option, name: wireName(option) }));
}

/** @returns a function that makes an object with a value for each option that these callers get, by wire name. */
function mapOptions<Reader extends OptionReader>(...readers: readonly Reader[]) {
  const names = withWireNames(...readers);
  return <Value>(choose: (option: OptionAnsweredTo<Reader>) => Value) => {
    const mapped: Record<string, Value> = {};
    for (const { option, name } of names) mapped[name] = choose(option);
    return mapped as ByWireName<OptionAnsweredTo<Reader>, Value>;
  };
}

const mapPublic = mapOptions("everybody");
const mapOwners = mapOptions("owner");
const mapNonPublic = mapOptions("owner", "nobody");
const mapAll = mapOptions("everybody", "owner", "nobody");

const requestField = (option: PushOption): TOptional<TBoolean> =>
  Type.Optional(Type.Boolean({ description: optionRules[option].description }));

/** Two groups, because the documentation lists other fields between them. */
export const publicOptionFields = mapPublic(requestField);
export const nonPublicOptionFields = mapNonPublic(requestField);

/** Schemas of the options in an answer, and of those that only an answer for the owner has. */
export const publicOptionAnswers = mapPublic(() => Type.Boolean());
export const ownersOptionAnswers = mapOwners(() =>
  Type.Optional(Type.Boolean({ description: "Absent if there is no owner." })),
);

export function presentOptions(
  push: Pick<Push, OptionAnsweredTo<"everybody">>,
): ByWireName<OptionAnsweredTo<"everybody">, boolean> {
  return mapPublic((option) => push[option]);
}

export function presentOwnersOptions(
  push: Readonly<Record<PushOption, boolean>>,
): ByWireName<OptionAnsweredTo<"owner">, boolean> {
  return mapOwners((option) => push[option]);
}

/** All options, for the owner's data export. */
export function presentAllOptions(push: Readonly<Record<PushOption, boolean>>): ByWireName<PushOption, boolean> {
  return mapAll((option) => push[option]);
}

/** What a preset says, by wire names. */
export function presentPreset({ kind, expireAfterMinutes, expireAfterViews, fields, ...options }: PresetSettings) {
  return {
    ...(kind !== undefined && { kind }),
    ...(expireAfterMinutes !== undefined && { expire_after_minutes: expireAfterMinutes }),
    ...(expireAfterViews !== undefined && { expire_after_views: expireAfterViews }),
    ...presentSomeOptions(options),
    ...(fields !== undefined && { fields: [...fields] }),
  };
}

function presentSomeOptions(
  options: Partial<Readonly<Record<PushOption, boolean>>>,
): Partial<ByWireName<PushOption, boolean>> {
  const all = Object.entries(mapAll((option) => options[option]));
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

const readNames = withWireNames("everybody", "owner", "nobody");

/** @returns the options that a request has. */
export function readOptions(given: Partial<ByWireName<PushOption, boolean>>): Partial<Record<PushOption, boolean>> {
  const options: Partial<Record<PushOption, boolean>> = {};
  for (const { option, name } of readNames) {
    const value = given[name];
    if (value !== undefined) options[option] = value;
  }
  return options;
}
