import type { SourcePush, SourceTrail } from "@sealpush/import-password-pusher";
import { keyedHash } from "../crypto/sodium.ts";

/** What can change in a row of the source between two runs, with its name in reports. */
const aspectNames = {
  created_at: "its time of creation",
  email: "its email address",
  password: "its password",
  admin: "its administrator rights",
  language: "its language",
  confirmed: "whether its email address is confirmed",
  api_token: "its API token",
  factor: "its second factor",
  last_code: "the last code of its authenticator app",
  last_use: "when it was last used",
  owner: "its owner",
  payload: "its text",
  passphrase: "its passphrase",
  files: "its files",
  labels: "its name or note",
  limits: "its limits or options",
  views: "its views",
  end: "whether it has ended",
  trail: "its audit trail",
  style: "the style sheet",
} as const;

export type Aspect = keyof typeof aspectNames;
/** Keyed digests of a row's aspects. An aspect that could not be read, or that the row does not have, is absent. */
export type AspectDigests = Readonly<Partial<Record<Aspect, string>>>;

const aspects = Object.keys(aspectNames) as Aspect[];

/** For the column of the record. */
export function writeAspects(digests: AspectDigests): string {
  return aspects
    .filter((aspect) => digests[aspect] !== undefined)
    .map((aspect) => `${aspect}=${digests[aspect]}`)
    .join(" ");
}

/** Aspects that this version does not know are left out, so their rows count as changed. */
export function readAspects(written: string): AspectDigests {
  const pairs = written === "" ? [] : written.split(" ").map((pair) => pair.split("="));
  return Object.fromEntries(pairs.filter(([name = ""]) => Object.hasOwn(aspectNames, name)));
}

/** The aspects of which both digests are known and differ, and those that were not known before. */
export function changedAspects(before: AspectDigests, now: AspectDigests): readonly Aspect[] {
  return aspects.filter((aspect) => now[aspect] !== undefined && now[aspect] !== before[aspect]);
}

/** If so, a push that is over there was perhaps not ended by the time that was imported. */
export function haveLimitsChanged(before: AspectDigests, now: AspectDigests): boolean {
  return changedAspects(before, now).includes("limits");
}

export function aspectList(changed: readonly Aspect[]): string {
  return changed.map((aspect) => aspectNames[aspect]).join(", ");
}

/** The label of the key. The access secret, unlike the index secret, can be replaced. */
export const digestKeyLabel = "imported rows";
const digestBytes = 16;

/** Makes the digests that records hold. They reveal nothing without the key, and differ between installations. */
export class RowDigests {
  readonly #key: Buffer;

  /** @param key which never changes, so that later runs recognise the rows. */
  constructor(key: Buffer) {
    this.#key = key;
  }

  of(purpose: Aspect | "identity", value: string): string {
    return keyedHash(this.#key, digestBytes, purpose, value).toString("base64url");
  }

  all(values: Readonly<Partial<Record<Aspect, string>>>): AspectDigests {
    return Object.fromEntries(
      Object.entries(values).map(([aspect, value]) => [aspect, this.of(aspect as Aspect, value)]),
    );
  }
}

/** What decides about the imported push, by aspect. @param ownerId the account here. */
export function pushAspects(
  push: SourcePush,
  { entries }: SourceTrail,
  ownerId: number | null,
): Readonly<Partial<Record<Aspect, string>>> {
  const { open, end, expireAfterDays, expireAfterViews, deletableByViewer, retrievalStep } = push;
  return {
    owner: JSON.stringify([ownerId, push.kind]),
    payload: JSON.stringify(open?.payload ?? null),
    passphrase: JSON.stringify(open?.passphrase ?? null),
    files: JSON.stringify(open?.files ?? null),
    labels: JSON.stringify([push.name, push.note]),
    limits: JSON.stringify([expireAfterDays, expireAfterViews, deletableByViewer, retrievalStep]),
    views: String(push.countedViews),
    end: JSON.stringify(end),
    trail: JSON.stringify([push.updatedAt, entries]),
  };
}
