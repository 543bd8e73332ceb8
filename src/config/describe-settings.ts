import { reasonAgainst } from "./password-pusher-settings.ts";
import { printable } from "./setting.ts";

/** Where the value of a setting comes from, and the value as it may be shown: secrets are masked. */
export interface SettingOrigin {
  readonly name: string;
  readonly from: "environment" | "settings file" | "default";
  readonly shown: string;
  /** The value in the environment or in a file cannot be used; the server does not start. */
  readonly rejected?: true;
  /** The value in the environment belongs to the Password Pusher in whose place this server runs. */
  readonly ofPasswordPusher?: true;
}

/** One line per setting, in the order of the table. */
export function describeSettings(origins: readonly SettingOrigin[]): readonly string[] {
  return origins.map(({ name, from, shown }) => `${name} = ${shown} (${from})`);
}

/** One line per name, in the given order: its effect. A value is shown only for settings whose value may be shown. */
export function describeEffects(names: readonly string[], all: readonly SettingOrigin[]): readonly string[] {
  const origins = new Map(all.map((origin) => [origin.name, origin]));
  const rows = names.map((name) => {
    const effect = effectOf(name, origins);
    // The last line of a multi-line key can look like a name.
    const isName = effect !== undefined || /^[A-Z][A-Z0-9_]*$/.test(name);
    return [
      isName ? printable(name) : "(not the name of a setting)",
      effect ?? "not a setting of this version",
    ] as const;
  });
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, effect]) => `${name.padEnd(width)}  ${effect}`);
}

function effectOf(name: string, origins: ReadonlyMap<string, SettingOrigin>): string | undefined {
  const because = reasonAgainst(name);
  if (because !== undefined) return `not used here, because ${because}`;
  const origin = origins.get(name);
  if (origin?.ofPasswordPusher === true) return "Password Pusher's while SEALPUSH_MOVE_IN is set";
  if (origin !== undefined && origin.from !== "default")
    return `${origin.rejected === true ? "rejected" : "used"}: ${origin.shown}`;
  if (origin !== undefined) return "empty, so not set";
  // NAME_FILE of a setting that a file can provide.
  const byFile = name.endsWith("_FILE") ? origins.get(name.slice(0, -"_FILE".length)) : undefined;
  if (byFile?.rejected === true) return "rejected";
  if (byFile !== undefined) return byFile.from === "default" ? "empty, so not set" : "used";
  return undefined;
}
