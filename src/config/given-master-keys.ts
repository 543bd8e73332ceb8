import { parseMasterKeys } from "../crypto/keyring.ts";
import type { ParsedSettings } from "./read-settings.ts";
import { type ReadFile, readSecretFile } from "./secret-files.ts";
import type { ParsedSetting } from "./setting.ts";
import type { SettingGroups } from "./settings.ts";

type KeyText = { readonly env: string; readonly text: string | undefined; readonly mistakes: readonly string[] };
type Parsing = { readonly keys: readonly Buffer[]; readonly mistakes: readonly string[] };

/** Lets the previous keys be checked when the active one is unusable; it never leaves this file. */
const standInKey = "0".repeat(64);

/**
 * The master keys that variables or files give, 32 bytes each, the active one first; none when none is given. No sentence
 * repeats a key or the content of a file.
 */
export function givenMasterKeys(parsed: ParsedSettings<SettingGroups>["keys"], readFile: ReadFile): Parsing {
  const active = keyText(parsed.active, parsed.activeFile, readFile);
  const previous = keyText(parsed.previous, parsed.previousFile, readFile);
  const textMistakes = [...active.mistakes, ...previous.mistakes];

  const activeParsing = parse(active.env, active.text, undefined);
  const activeStands = active.mistakes.length === 0 && activeParsing.mistakes.length === 0;
  const activeText = activeStands ? active.text : standInKey;
  const parsing = parse(previous.env, activeText, previous.text?.replace(/\s*\n\s*/g, ","));
  const repeated = parsing.keys.some((key, at) => parsing.keys.findIndex((other) => other.equals(key)) !== at);
  const mistakes = [
    ...textMistakes,
    ...activeParsing.mistakes,
    ...parsing.mistakes,
    ...(repeated && activeStands ? [`${previous.env}: a key stands there twice, or is the active key too.`] : []),
  ];
  return { keys: mistakes.length === 0 ? parsing.keys : [], mistakes };
}

function keyText(
  inline: ParsedSetting<string | undefined>,
  file: ParsedSetting<string | undefined>,
  readFile: ReadFile,
): KeyText {
  if (file.value === undefined) return { env: inline.env, text: inline.value, mistakes: [] };
  if (inline.value !== undefined) {
    const mistake = `${inline.env} and ${file.env} are both given: give one of them.`;
    return { env: inline.env, text: undefined, mistakes: [mistake] };
  }
  const reading = readSecretFile(file.env, file.value, readFile);
  return reading.ok
    ? { env: file.env, text: reading.text, mistakes: [] }
    : { env: file.env, text: undefined, mistakes: [reading.mistake] };
}

function parse(env: string, active: string | undefined, previous: string | undefined): Parsing {
  try {
    return { keys: parseMasterKeys(active, previous), mistakes: [] };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { keys: [], mistakes: [`${env}: ${error.message}`] };
  }
}
