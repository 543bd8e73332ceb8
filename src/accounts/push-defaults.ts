import type { KindName } from "../config/config.ts";

/** What somebody wants the form for one kind of push to begin with. Absent: whatever the instance says at that time. */
export interface KindDefaults {
  readonly expireAfterDays?: number;
  readonly expireAfterViews?: number;
  readonly retrievalStep?: boolean;
  readonly deletableByViewer?: boolean;
}

export interface PushDefaults {
  /** The kind whose form comes first; null: the instance's. */
  readonly kind: KindName | null;
  readonly kinds: Readonly<Partial<Record<KindName, KindDefaults>>>;
}

export const noDefaults: PushDefaults = { kind: null, kinds: {} };

const kindNames: readonly KindName[] = ["text", "file", "url", "qr"];

export function writePushDefaults({ kind, kinds }: PushDefaults): string {
  return JSON.stringify({ kind, kinds });
}

/** Reads named fields of the right types only: what an older or newer version wrote besides is not ours to guess. */
export function readPushDefaults(text: string | null): PushDefaults {
  if (text === null) return noDefaults;
  const stored: unknown = JSON.parse(text);
  const kind = fieldOf(stored, "kind");
  const kinds = fieldOf(stored, "kinds");
  return {
    kind: kindNames.find((name) => name === kind) ?? null,
    kinds: Object.fromEntries(
      kindNames.flatMap((name) => {
        const given = fieldOf(kinds, name);
        return given === undefined ? [] : [[name, readKind(given)]];
      }),
    ),
  };
}

function readKind(stored: unknown): KindDefaults {
  const expireAfterDays = fieldOf(stored, "expireAfterDays");
  const expireAfterViews = fieldOf(stored, "expireAfterViews");
  const retrievalStep = fieldOf(stored, "retrievalStep");
  const deletableByViewer = fieldOf(stored, "deletableByViewer");
  return {
    ...(typeof expireAfterDays === "number" && { expireAfterDays }),
    ...(typeof expireAfterViews === "number" && { expireAfterViews }),
    ...(typeof retrievalStep === "boolean" && { retrievalStep }),
    ...(typeof deletableByViewer === "boolean" && { deletableByViewer }),
  };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
