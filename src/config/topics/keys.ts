import { parseMasterKeys } from "../../crypto/keyring.ts";
import { type ReadFile, readSecretFile } from "../secret-files.ts";
import { optionalSetting, type ParsedGroup, type ParsedSetting, type SettingReport } from "../setting.ts";
import { anyText, filePath } from "../value-types.ts";

const masterKeyText = "64 hex digits (32 bytes), as `npm run -s sealpush -- keys generate` prints them";

export const keySettings = {
  title: "Master keys",
  intro:
    "The master key is one of the two keys of every push; the other is in its link. When none is given, the server generates one on its first start and stores it as `master.key` in `DATA_DIR`.",
  settings: {
    active: optionalSetting({
      env: "PWPUSH_MASTER_KEY",
      doc: "The master key that encrypts everything new.",
      type: anyText(masterKeyText),
      unset: "`master.key` in DATA_DIR",
      hidden: "always",
    }),
    activeFile: optionalSetting({
      env: "PWPUSH_MASTER_KEY_FILE",
      doc: "A file that contains the master key, instead of the variable above.",
      type: filePath,
      unset: "not set",
    }),
    previous: optionalSetting({
      env: "PWPUSH_MASTER_KEY_PREVIOUS",
      doc: "Older master keys, which still decrypt what was encrypted under them, separated by commas.",
      type: anyText(`${masterKeyText}; several are separated by commas`),
      unset: "none",
      hidden: "always",
    }),
    previousFile: optionalSetting({
      env: "PWPUSH_MASTER_KEY_PREVIOUS_FILE",
      doc: "A file that contains the older master keys, separated by commas or line ends, instead of the variable above.",
      type: filePath,
      unset: "not set",
    }),
  },
};

/** Allows the previous keys to be checked when the active one is unusable; it never leaves this file. */
const placeholderKey = "0".repeat(64);

/**
 * The master keys from variables or files, 32 bytes each, the active one first; empty if none is given. No sentence
 * repeats a key or the content of a file.
 */
export function masterKeysConfig(
  settings: ParsedGroup<typeof keySettings>,
  readFile: ReadFile,
  report: SettingReport,
): readonly Buffer[] {
  const active = keyText(settings.active, settings.activeFile, readFile, report);
  const previous = keyText(settings.previous, settings.previousFile, readFile, report);

  const activeKeys = active.isReadable ? parseKeys(active.env, active.text, undefined, report) : undefined;
  const activeText = activeKeys === undefined ? placeholderKey : active.text;
  const keys = parseKeys(previous.env, activeText, previous.text?.replace(/\s*\n\s*/g, ","), report) ?? [];
  const isRepeated = keys.some((key, at) => keys.findIndex((other) => other.equals(key)) !== at);
  if (isRepeated && activeKeys !== undefined) {
    report.mistake(`${previous.env}: it contains a key twice, or the active key as well.`, previous.env);
  }
  return keys;
}

/** `env`: the setting to name in mistakes about the text. */
function keyText(
  inline: ParsedSetting<string | undefined>,
  file: ParsedSetting<string | undefined>,
  readFile: ReadFile,
  report: SettingReport,
) {
  if (file.value === undefined) return { env: inline.env, text: inline.value, isReadable: true };
  if (inline.value !== undefined) {
    report.mistake(`${inline.env} and ${file.env} are both given: give one of them.`, inline.env, file.env);
    return { env: inline.env, text: undefined, isReadable: false };
  }
  const secret = readSecretFile(file.env, file.value, readFile);
  if (secret.ok) return { env: file.env, text: secret.text, isReadable: true };
  report.mistake(secret.mistake, file.env);
  return { env: file.env, text: undefined, isReadable: false };
}

/** @returns undefined after a mistake. */
function parseKeys(
  env: string,
  active: string | undefined,
  previous: string | undefined,
  report: SettingReport,
): readonly Buffer[] | undefined {
  try {
    return parseMasterKeys(active, previous);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    report.mistake(`${env}: ${error.message}`, env);
    return undefined;
  }
}
