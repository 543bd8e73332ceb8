import { getSystemErrorMap } from "node:util";

/** @returns the code of an error of the operating system, such as ENOENT; undefined for other errors. */
export function systemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

const wrongPaths: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EISDIR", "ELOOP", "ENAMETOOLONG", "EACCES"]);

/** Whether a path on the command line is wrong: there is nothing to read or write, or this user may not. */
export function isWrongPath(error: unknown): boolean {
  const isOfFile = typeof Reflect.get(Object(error), "path") === "string";
  return isOfFile && wrongPaths.has(systemErrorCode(error) ?? "");
}

/** One sentence for people; undefined: it is no error of the operating system. */
export function systemProblem(error: unknown): string | undefined {
  const code = systemErrorCode(error);
  if (code === undefined) return undefined;
  const path = Reflect.get(Object(error), "path");
  const reason = systemReason(code);
  if (typeof path !== "string") return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
  return code === "ENOENT" ? `${path} does not exist.` : `${path} cannot be used (${reason}).`;
}

/** Why the operating system has refused, in words such as "permission denied"; the code where there are none. */
export function systemReason(code: string): string {
  if (code === "EISDIR") return "it is a folder";
  const words = [...getSystemErrorMap().values()].find(([name]) => name === code)?.[1];
  return words?.replace("directory", "folder") ?? code;
}
