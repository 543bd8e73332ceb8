import { getSystemErrorMap } from "node:util";
import { errorCode } from "./errors.ts";

/** The code of an operating system's refusal, e.g. ENOENT; undefined for any other error. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && "syscall" in error ? errorCode(error) : undefined;
}

/**
 * Why the operating system has refused, in words such as "permission denied"; the code where there are none. Undefined for
 * any other error.
 */
export function systemReason(error: unknown): string | undefined {
  const code = systemErrorCode(error);
  return code === undefined ? undefined : (reasonOfCode(code) ?? code);
}

/** As `systemReason`. @throws any other error itself. */
export function reasonOrThrow(error: unknown): string {
  const reason = systemReason(error);
  if (reason === undefined) throw error;
  return reason;
}

/** A code of the operating system, of DNS, of TLS or of a certificate in words; undefined: it is none of them. */
export function reasonOfCode(code: string): string | undefined {
  if (code === "EISDIR") return "it is a folder";
  if (code === "ENOTFOUND") return "its name cannot be resolved";
  const words = [...getSystemErrorMap().values()].find(([name]) => name === code)?.[1];
  // As everywhere else in messages.
  if (words !== undefined) return words.replace("directory", "folder");
  // These codes are words: DEPTH_ZERO_SELF_SIGNED_CERT, ERR_TLS_CERT_ALTNAME_INVALID.
  const isWords = /^[A-Z\d]+(?:_[A-Z\d]+)+$/.test(code);
  return isWords
    ? code
        .replace(/^(?:UND_)?ERR_/, "")
        .toLowerCase()
        .replaceAll("_", " ")
    : undefined;
}
