import { createHash } from "node:crypto";

/** 64 hex digits, the same for the same name. */
export function masterKeyNamed(name: string): string {
  return createHash("sha256").update(name).digest("hex");
}

/** The environment of a server whose active key is the first and who knows the others. */
export function keyEnvironment(active: string, ...previous: readonly string[]): Record<string, string> {
  const environment: Record<string, string> = { PWPUSH_MASTER_KEY: masterKeyNamed(active) };
  if (previous.length > 0) environment.PWPUSH_MASTER_KEY_PREVIOUS = previous.map(masterKeyNamed).join(",");
  return environment;
}
