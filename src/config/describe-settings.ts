/** Where the value of a setting came from, and what may be shown of it: secrets are masked. */
export interface SettingOrigin {
  readonly name: string;
  readonly from: "environment" | "default";
  readonly shown: string;
}

/** One line for each setting, in the order of the table. */
export function describeSettings(given: readonly SettingOrigin[]): readonly string[] {
  return given.map(({ name, from, shown }) => `${name} = ${shown} (${from})`);
}
