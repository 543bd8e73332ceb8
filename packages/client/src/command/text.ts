import { type CommandIo, exitCodes, type Given, isSet } from "./io.ts";

const controls = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** A foreign text for a terminal: control characters, which could change its state or imitate other output, are replaced. */
export function harmless(text: string, kept = ""): string {
  return text.replace(controls, (character) => (kept.includes(character) ? character : "\ufffd"));
}

/** JSON with control characters as escapes: a terminal may show it, and programs read what the server sent. */
export function jsonText(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `${JSON.stringify(value, null, 2).replace(controls, (character) => (character === "\n" ? "\n" : escaped(character)))}\n`;
}

/** Prints what the server has answered: with --json as it is, otherwise as a text for people. */
export function printAnswer(given: Given, io: Pick<CommandIo, "stdout">, answer: unknown, text: string): number {
  io.stdout(isSet(given, "json") ? jsonText(answer) : text);
  return exitCodes.ok;
}

/** One `label: value` a line; a value cannot begin another line. */
export function labelled(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([label, value]) => `${label}: ${harmless(value)}\n`)
    .join("");
}

/** Rows with a header, in columns separated by tabs. */
export function table(header: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cell = (value: unknown) =>
    value === null || value === undefined || value === "" ? "-" : harmless(String(value));
  return [header, ...rows].map((row) => `${row.map(cell).join("\t")}\n`).join("");
}

const units = ["bytes", "kB", "MB", "GB"] as const;

export function sizeText(sizeBytes: number): string {
  const unit = Math.min(Math.floor(Math.log10(Math.max(sizeBytes, 1)) / 3), units.length - 1);
  return `${(sizeBytes / 1_000 ** unit).toFixed(unit === 0 ? 0 : 1)} ${units[unit]}`;
}

/** @returns a function that shows how much of a transfer is done, on a line of the terminal; undefined: there is no terminal. */
export function progressOn(
  io: { readonly terminals: { readonly stderr: boolean }; readonly status: (line: string) => void },
  label: string,
  totalBytes: number | undefined,
): { readonly show: (doneBytes: number) => void; readonly clear: () => void } | undefined {
  if (!io.terminals.stderr) return undefined;
  let shown = "";
  return {
    show: (doneBytes) => {
      const percent =
        totalBytes === undefined ? "" : `${Math.floor((doneBytes / Math.max(totalBytes, 1)) * 100)} % of `;
      const line = `${label}: ${percent}${sizeText(totalBytes ?? doneBytes)}`;
      if (line === shown) return;
      shown = line;
      io.status(line);
    },
    clear: () => io.status(""),
  };
}
