import { type KindDefaults, noDefaults } from "../../accounts/accounts.ts";
import { type KindName, kindNames } from "../../base/push-kinds.ts";
import type { Config, KindSettings, Range } from "../../config/config.ts";
import type { CreatePush } from "../../pushes/pushes.ts";
import type { PageRequest } from "../request.ts";

/** The settings that the form starts with for one account. The API uses those of the server alone. */
export interface StartingSettings {
  /** The kind that is shown first. Text if every kind is switched off: sending the form then shows the problem. */
  readonly firstKind: KindName;
  /** The server's settings with the account's own defaults. */
  readonly kinds: Readonly<Record<KindName, KindSettings>>;
}

export function enabledKinds(config: Pick<Config, "kinds">): readonly KindName[] {
  return kindNames.filter((kind) => config.kinds[kind].enabled);
}

export async function startingSettings({ user, services }: PageRequest): Promise<StartingSettings> {
  const { accounts, config } = services;
  const defaults = user === null ? noDefaults : await accounts.pushDefaults(user.id);
  const enabled = enabledKinds(config);
  const of = (kind: KindName) => withDefaults(config.kinds[kind], defaults.kinds[kind] ?? {});
  return {
    firstKind: enabled.find((kind) => kind === defaults.kind) ?? enabled[0] ?? "text",
    kinds: { text: of("text"), file: of("file"), url: of("url"), qr: of("qr") },
  };
}

/** A stored number that is out of range, because settings changed since, is ignored. */
function withDefaults(settings: KindSettings, defaults: KindDefaults): KindSettings {
  const { days, views, retrievalStep, deletableByViewer } = settings;
  return {
    ...settings,
    days: rangeWith(days, defaults.expireAfterDays),
    views: rangeWith(views, defaults.expireAfterViews),
    retrievalStep: { ...retrievalStep, default: defaults.retrievalStep ?? retrievalStep.default },
    deletableByViewer: { ...deletableByViewer, default: defaults.deletableByViewer ?? deletableByViewer.default },
  };
}

function rangeWith(range: Range, wanted: number | undefined): Range {
  return wanted !== undefined && wanted >= range.min && wanted <= range.max ? { ...range, default: wanted } : range;
}

/** Adds what a form left out. */
export function completed<Given extends Omit<CreatePush, "upload">>(
  given: Given,
  fileCount: number,
  { firstKind, kinds }: StartingSettings,
): Given & Omit<CreatePush, "upload"> {
  const implied = fileCount > 0 ? "file" : firstKind;
  const kind = given.kind ?? (implied === "file" && fileCount === 0 ? "text" : implied);
  const { days, views, retrievalStep, deletableByViewer } = kinds[kind];
  return {
    ...(given.expireAfterMs === undefined && { expireAfterDays: days.default }),
    expireAfterViews: views.default,
    retrievalStep: retrievalStep.default,
    deletableByViewer: deletableByViewer.default,
    ...given,
    kind,
  };
}
