import { reasonAgainst } from "./password-pusher-settings.ts";
import { printable } from "./setting.ts";

/** Where the value of a setting came from, and what may be shown of it: secrets are masked. */
export interface SettingOrigin {
  readonly name: string;
  readonly from: "environment" | "default";
  readonly shown: string;
  /** What was given, here or in a file, cannot be used; then nothing starts. */
  readonly refused?: true;
}

/** One line for each setting, in the order of the table. */
export function describeSettings(given: readonly SettingOrigin[]): readonly string[] {
  return given.map(({ name, from, shown }) => `${name} = ${shown} (${from})`);
}

/**
 * One line for each of the names, in their order: what becomes of it here. A value stands there only where a setting's may
 * be shown.
 */
export function describeGiven(names: readonly string[], given: readonly SettingOrigin[]): readonly string[] {
  const origins = new Map(given.map((origin) => [origin.name, origin]));
  const rows = names.map((name) => {
    const fate = fateOf(name, origins);
    // The end of a key that goes over several lines can look like a name.
    const isName = fate !== undefined || /^[A-Z][A-Z0-9_]*$/.test(name);
    return [
      isName ? printable(name) : "(a name that no setting has)",
      fate ?? "not a setting of this version",
    ] as const;
  });
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, fate]) => `${name.padEnd(width)}  ${fate}`);
}

function fateOf(name: string, origins: ReadonlyMap<string, SettingOrigin>): string | undefined {
  const because = reasonAgainst(name);
  if (because !== undefined) return `not used here, because ${because}`;
  const origin = origins.get(name);
  if (origin?.from === "environment") return `${origin.refused === true ? "refused" : "honoured"}: ${origin.shown}`;
  if (origin !== undefined) return "empty, so not given";
  // NAME_FILE, of a setting that a file can give.
  const byFile = name.endsWith("_FILE") ? origins.get(name.slice(0, -"_FILE".length)) : undefined;
  if (byFile?.refused === true) return "refused";
  if (byFile !== undefined) return byFile.from === "default" ? "empty, so not given" : "honoured";
  return undefined;
}
