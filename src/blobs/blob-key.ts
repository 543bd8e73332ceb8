const keyShape = /^[0-9a-f]{32}$/;

/**
 * Where a blob lies, below its folder or in its bucket: spread over 256 folders. The same in every store, so that any
 * tool that copies files moves blobs from one to the other.
 * @throws Error for a key of another shape: a path must not be chosen by what is in it.
 */
export function blobPath(key: string): string {
  if (!keyShape.test(key)) throw new Error("A blob key is 32 lower-case hex digits.");
  return `${key.slice(0, 2)}/${key}`;
}
