import type { ParsedSetting, Setting } from "./setting.ts";

interface SettingGroup {
  readonly title: string;
  readonly intro: string;
  readonly settings: Readonly<Record<string, Setting<unknown>>>;
}

/** Any table of settings: group -> what it says of itself, and setting -> row. */
export type SettingTable = Readonly<Record<string, SettingGroup>>;

/** The same table with each row read. */
export type ParsedSettings<Table extends SettingTable> = {
  readonly [Group in keyof Table]: {
    readonly [Name in keyof Table[Group]["settings"]]: Table[Group]["settings"][Name] extends Setting<infer T>
      ? ParsedSetting<T>
      : never;
  };
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads every row; a refused text leaves its row with the default and a mistake. */
export function readSettings<Table extends SettingTable>(
  table: Table,
  environment: Environment,
): ParsedSettings<Table> {
  const groups = Object.entries(table).map(([group, { settings }]) => {
    const rows = Object.entries(settings).map(([name, row]) => [name, row.read(environment[row.env])] as const);
    return [group, Object.fromEntries(rows)] as const;
  });
  // The keys are the table's own and each row made its own reading, which the types of Object.entries cannot say.
  return Object.fromEntries(groups) as ParsedSettings<Table>;
}

export function allSettings(table: SettingTable): readonly Setting<unknown>[] {
  return Object.values(table).flatMap((group) => Object.values(group.settings));
}
