/**
 * Every kind of push with the number that stores it; the numbers never change. This is the only list of kinds: others
 * derive from it, or are a `Record<KindName, ...>`, which does not compile when a kind is missing.
 */
export const pushKinds = { text: 0, file: 1, url: 2, qr: 3 } as const;

export type KindName = keyof typeof pushKinds;

export const kindNames: readonly KindName[] = Object.keys(pushKinds).filter(isKindName);

/** Whether pushes of the kind can be sealed end to end: the server has to read an address or the content of a QR code. */
export function isSealable(kind: KindName): boolean {
  return kind === "text" || kind === "file";
}

export function byKind<Value>(choose: (kind: KindName) => Value): Record<KindName, Value> {
  return Object.fromEntries(kindNames.map((kind) => [kind, choose(kind)])) as Record<KindName, Value>;
}

export function isKindName(value: unknown): value is KindName {
  return typeof value === "string" && Object.hasOwn(pushKinds, value);
}
