/**
 * What an end-to-end push with files has as its sealed payload: a JSON text with the message and the names of the files.
 * The files themselves are sealed one by one and stored under numbers, so that the server does not see a name.
 */
export interface SealedFiles {
  /** "": none. */
  readonly text: string;
  /** Opens the files; null: the identity of the link does. */
  readonly identity: string | null;
  readonly files: readonly SealedFileDetails[];
}

export interface SealedFileDetails {
  /** The name under which the sealed file is stored. */
  readonly stored: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
}

export function writeSealedFiles({ text, identity, files }: SealedFiles): string {
  return JSON.stringify({ text, ...(identity === null ? {} : { identity }), files });
}

/** @returns undefined: the text is a message that somebody sealed without such a list, for example with the age tool. */
export function readSealedFiles(opened: string): SealedFiles | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(opened);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (!isRecord(parsed) || !Array.isArray(parsed.files)) return undefined;
  const { text = "", identity = null } = parsed;
  if (typeof text !== "string" || !(identity === null || typeof identity === "string")) return undefined;
  const files = parsed.files.map(readDetails);
  return files.includes(undefined) ? undefined : { text, identity, files: files.filter((file) => file !== undefined) };
}

function readDetails(value: unknown): SealedFileDetails | undefined {
  if (!isRecord(value)) return undefined;
  const { stored, name, type = "", size } = value;
  if (typeof stored !== "string" || typeof name !== "string" || typeof type !== "string" || typeof size !== "number")
    return undefined;
  return { stored, name, type, size };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
