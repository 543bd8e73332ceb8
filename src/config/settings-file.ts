import { dirname, join } from "node:path";
import { isMap, isScalar, isSeq, type Node, parseDocument } from "yaml";
import { systemErrorCode, systemReason } from "../base/system-error.ts";
import type { ReadFile } from "./secret-files.ts";
import { type Environment, printable, type SettingReport } from "./setting.ts";

/** The setting that names the file. */
export const settingsFileName = "PWP_SETTINGS_FILE";
/** Where Password Pusher's image has it. */
export const defaultSettingsFile = "/opt/PasswordPusher/config/settings.yml";

const charactersMax = 512 * 1024;
const depthMax = 10;
const namesMax = 2_000;

export type ParsedSettingsFile =
  | { readonly ok: true; readonly values: Readonly<Record<string, string>> }
  /** `reason`: a clause that never repeats the text. `line`: from 1. */
  | { readonly ok: false; readonly line?: number; readonly reason: string };

/**
 * The settings of a settings.yml of Password Pusher, under the names of their environment variables: `mail: smtp_port:` is
 * `PWP__MAIL__SMTP_PORT`. Values that are null are not set. Source: the gem config, with the prefix PWP and the separator
 * `__`; Psych, which reads YAML 1.1, where `on` and `yes` are true.
 */
export function parseSettingsFile(text: string): ParsedSettingsFile {
  if (text.length > charactersMax) return { ok: false, reason: `it is longer than ${charactersMax} characters` };
  const ruby = text.split("\n").findIndex((line) => line.includes("<%") && !/^\s*#/.test(line));
  if (ruby >= 0) {
    return { ok: false, line: ruby + 1, reason: "Ruby code in <% %> is not executed: write the value instead" };
  }
  const document = parseDocument(text, { version: "1.1" });
  const [error] = document.errors;
  if (error !== undefined) {
    const line = error.linePos?.[0].line;
    return { ok: false, ...(line !== undefined && { line }), reason: `this is not valid YAML (${error.code})` };
  }
  const values = new Map<string, string>();
  const problem = collectMap(document.contents, [], values);
  if (problem === undefined) return { ok: true, values: Object.fromEntries(values) };
  const { node, reason } = problem;
  return { ok: false, ...(node && { line: text.slice(0, node.range?.[0] ?? 0).split("\n").length }), reason };
}

interface Problem {
  readonly node?: Node;
  readonly reason: string;
}

/** @param path the names above it. @returns the first problem. */
function collectMap(node: Node | null, path: readonly string[], values: Map<string, string>): Problem | undefined {
  if (!isMap<unknown, Node | null>(node)) {
    if (node === null || (isScalar(node) && node.value === null)) return undefined;
    return { node, reason: "names with values are expected, such as allow_anonymous: true" };
  }
  if (path.length >= depthMax) return { node, reason: "it is nested too deep" };
  for (const { key, value } of node.items) {
    if (!isScalar(key)) return { node, reason: "a name must be a word" };
    const inner = [...path, (key.source ?? String(key.value)).toUpperCase()];
    const problem = isMap(value)
      ? collectMap(value, inner, values)
      : collectValue(value, ["PWP", ...inner].join("__"), values);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function collectValue(node: Node | null, name: string, values: Map<string, string>): Problem | undefined {
  if (isSeq<Node>(node)) {
    if (!node.items.every(isScalar)) return { node, reason: "a list must contain values" };
    values.set(name, node.items.map((item) => scalarText(item)).join(","));
  } else if (isScalar(node)) {
    if (node.value !== null) values.set(name, scalarText(node));
  } else if (node !== null) {
    return { node, reason: "an alias (*name) is not supported: write the value instead" };
  }
  return values.size > namesMax ? { reason: `it has more than ${namesMax} settings` } : undefined;
}

/** As an environment variable would contain it: `:en` is a symbol in Ruby, whose text is `en`. */
function scalarText(node: { readonly value: unknown; readonly source?: string; readonly type?: unknown }): string {
  if (typeof node.value !== "string") return typeof node.value === "boolean" ? String(node.value) : (node.source ?? "");
  return node.type === "PLAIN" ? node.value.replace(/^:(?=[A-Za-z_])/, "") : node.value;
}

/**
 * The settings of the file that PWP_SETTINGS_FILE names, or of Password Pusher's own one if it is there, and of the two
 * files beside it that Password Pusher reads after it. A file that cannot be used prevents the start.
 */
export function settingsFromFile(
  environment: Environment,
  readFile: ReadFile,
  report: SettingReport,
): Readonly<Record<string, string>> {
  const named = environment[settingsFileName]?.trim() ?? "";
  const path = named === "" ? defaultSettingsFile : named;
  const beside = [join(dirname(path), "settings/production.yml"), join(dirname(path), "settings.local.yml")];
  const values: Record<string, string> = {};
  for (const file of [path, ...beside]) {
    const text = readIfPresent(file, file === named, readFile, report);
    if (text === undefined) continue;
    const parsed = parseSettingsFile(text);
    if (parsed.ok) Object.assign(values, parsed.values);
    else {
      const place = parsed.line === undefined ? "" : `, line ${parsed.line}`;
      report.mistake(`${printable(file)}${place}: ${parsed.reason}.`, settingsFileName);
    }
  }
  return values;
}

function readIfPresent(file: string, mustExist: boolean, readFile: ReadFile, report: SettingReport) {
  try {
    return readFile(file);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    if (mustExist || !(code === "ENOENT" || code === "ENOTDIR")) {
      report.mistake(`The settings file ${printable(file)} cannot be read (${systemReason(error)}).`, settingsFileName);
    }
    return undefined;
  }
}

/**
 * One line of an environment file. Docker's --env-file, compose files, systemd, shells and this server read it alike: what
 * keeps the quotes passes them on to this server, which removes them. Only old versions of systemd drop
 * backslashes in single quotes, after which a pattern of addresses for sign-up fits none.
 * @returns undefined if no spelling means the same to all of them.
 */
export function environmentLine(name: string, value: string): string | undefined {
  if (/\p{Cc}/u.test(value)) return undefined;
  if (/^[\w@%+=:,./-]*$/.test(value)) return `${name}=${value}`;
  if (!value.includes("'")) return `${name}='${value}'`;
  return /["\\$`]/.test(value) ? undefined : `${name}="${value}"`;
}
