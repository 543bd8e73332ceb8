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
  if (code === "ENOSPC") return "There is no space left on the disk (ENOSPC).";
  const path = Reflect.get(Object(error), "path");
  return typeof path === "string" ? `${path} cannot be used (${code}).` : `Failed (${code}).`;
}
