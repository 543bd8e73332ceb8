import { getSystemErrorMap } from "node:util";

/** The code of an operating system's refusal, e.g. ENOENT; undefined for any other error. */
export function systemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("syscall" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/**
 * Why the operating system has refused, in words such as "permission denied"; the code where there are none. Undefined for
 * any other error.
 */
export function systemReason(error: unknown): string | undefined {
  const code = systemErrorCode(error);
  if (code === "EISDIR") return "it is a folder";
  const words = [...getSystemErrorMap().values()].find(([name]) => name === code)?.[1];
  // As everywhere else in messages.
  return words?.replace("directory", "folder") ?? code;
}
