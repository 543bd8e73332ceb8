import { systemErrorCode } from "../config/system-error.ts";
import { type BuiltScript, integrityOfBytes } from "../http/built-assets.ts";
import { CommandRefused } from "./errors.ts";

export interface ScriptComparison {
  readonly name: string;
  /** `missing`: the server does not have it; `unknown`: this build does not. */
  readonly state: "same" | "different" | "missing" | "unknown";
  /** The hash of what the server serves; for a missing script, of the own one. */
  readonly integrity: string;
}

const scriptsMax = 100;
const bytesMax = 4 * 1024 * 1024;
const timeoutMs = 30_000;
const scriptPath = /^\/assets\/[\w-]+\.js$/;

/**
 * Loads each script that a running server lists and compares its bytes with those of this build.
 * @param server the address without a slash at its end. @throws CommandRefused if it has no such list, or a script cannot be loaded.
 */
export async function compareScripts(server: string, own: readonly BuiltScript[]): Promise<ScriptComparison[]> {
  const listed = readList(server, await load(`${server}/scripts.json`));
  const compared: ScriptComparison[] = [];
  for (const { name, path, integrity: published } of listed) {
    const integrity = integrityOfBytes(await load(`${server}${path}`));
    const ours = own.find((script) => script.name === name)?.integrity;
    const isSame = integrity === ours && published === ours;
    compared.push({ name, state: ours === undefined ? "unknown" : isSame ? "same" : "different", integrity });
  }
  const missing = own.filter(({ name }) => !listed.some((script) => script.name === name));
  return [...compared, ...missing.map(({ name, integrity }) => ({ name, state: "missing", integrity }) as const)];
}

/** @returns the address without a slash at its end. @throws CommandRefused. */
export function readServerAddress(text: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.search}${url.hash}` === "";
  if (!isPlain) throw new CommandRefused("--server must be an address such as https://push.example.com.");
  return url.href.replace(/\/+$/, "");
}

async function load(address: string): Promise<Uint8Array> {
  const { origin, pathname } = new URL(address);
  try {
    const response = await fetch(address, { redirect: "manual", signal: AbortSignal.timeout(timeoutMs) });
    if (response.status !== 200) throw new CommandRefused(`${origin} answered ${response.status} to ${pathname}.`);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new CommandRefused(`${origin} answered with too many bytes to ${pathname}.`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof CommandRefused || !(error instanceof Error)) throw error;
    // fetch gives the network's reason as the cause.
    const reason =
      systemErrorCode(error.cause) ?? (error.name === "TimeoutError" ? "no answer in time" : error.message);
    throw new CommandRefused(`${origin} cannot be reached (${reason}).`);
  }
}

function readList(server: string, bytes: Uint8Array): readonly BuiltScript[] {
  const scripts: unknown = Reflect.get(Object(parsed(bytes)), "scripts");
  if (!Array.isArray(scripts) || scripts.length > scriptsMax || !scripts.every(isScript)) {
    throw new CommandRefused(
      `${server}/scripts.json is not a list of scripts: it is no Sealpush, or of another version.`,
    );
  }
  return scripts;
}

/** Its path and name are printed, and must lead to no other server. */
function isScript(value: unknown): value is BuiltScript {
  const { name, path, integrity } = Object(value) as Record<string, unknown>;
  const texts = [name, path, integrity].every((text) => typeof text === "string" && /^[\w./+=-]{1,200}$/.test(text));
  return texts && scriptPath.test(String(path));
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
