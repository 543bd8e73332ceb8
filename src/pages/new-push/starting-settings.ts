import type { FastifyRequest } from "fastify";
import { type KindDefaults, noDefaults } from "../../accounts/accounts.ts";
import { type KindName, kindNames } from "../../base/push-kinds.ts";
import type { Config, KindSettings, Range } from "../../config/config.ts";
import type { CreatePush } from "../../pushes/pushes.ts";
import type { PageDeps } from "../page-scope.ts";

/** What the forms begin with for one person. Creating by the API keeps to the instance's settings. */
export interface StartingSettings {
  /** The kind that comes first. Text when everything is switched off: the form then says so when it is sent. */
  readonly firstKind: KindName;
  /** The instance's, with the account's own defaults in the place of its. */
  readonly kinds: Readonly<Record<KindName, KindSettings>>;
}

export function enabledKinds(config: Pick<Config, "kinds">): readonly KindName[] {
  return kindNames.filter((kind) => config.kinds[kind].enabled);
}

export async function startingSettings(
  request: FastifyRequest,
  { accounts, config }: Pick<PageDeps, "accounts" | "config">,
): Promise<StartingSettings> {
  const { user } = request;
  const defaults = user === null ? noDefaults : await accounts.pushDefaults(user.id);
  const enabled = enabledKinds(config);
  const of = (kind: KindName) => withDefaults(config.kinds[kind], defaults.kinds[kind] ?? {});
  return {
    firstKind: enabled.find((kind) => kind === defaults.kind) ?? enabled[0] ?? "text",
    kinds: { text: of("text"), file: of("file"), url: of("url"), qr: of("qr") },
  };
}

/** A number that is out of range by now, since settings have changed, is passed over. */
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

/** What a form left out, as this person wants it. */
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
