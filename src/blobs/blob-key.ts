const keyShape = /^[0-9a-f]{32}$/;

/**
 * The path of a blob below its folder or in its bucket, spread over 256 folders. It is the same in every store, so any tool
 * that copies files can move blobs from one to the other.
 * @throws Error for a key of another shape, since a key must not be able to choose another path.
 */
export function blobPath(key: string): string {
  if (!keyShape.test(key)) throw new Error("A blob key is 32 lower-case hex digits.");
  return `${key.slice(0, 2)}/${key}`;
}
