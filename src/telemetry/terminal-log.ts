import { relative } from "node:path";
import type { Config } from "../config/config.ts";
import type { DestinationStream } from "./logger.ts";

type Shown = Pick<Config, "dataDir" | "overrideBaseUrl">;

/**
 * The log on a terminal. Up to the start, the lines that people need once become five lines of text; all others are logged as
 * elsewhere.
 */
export function terminalLog(out: DestinationStream, config: Shown): DestinationStream {
  const seen = new Map<string, Readonly<Record<string, unknown>>>();
  return {
    write(line) {
      const event = seen.has("server_started") ? undefined : startEventOf(line);
      if (event === undefined) return out.write(line);
      seen.set(event.name, event.fields);
      if (event.name === "server_started") out.write(`${startLines(seen, config).join("\n")}\n`);
    },
  };
}

const startEvents: ReadonlySet<unknown> = new Set(["master_key_made", "boot_code_made", "server_started"]);

function startEventOf(line: string): { name: string; fields: Readonly<Record<string, unknown>> } | undefined {
  const fields: Readonly<Record<string, unknown>> = JSON.parse(line);
  return startEvents.has(fields.event) ? { name: String(fields.event), fields } : undefined;
}

function startLines(
  seen: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
  { dataDir, overrideBaseUrl }: Shown,
): readonly string[] {
  const { host, port, version } = seen.get("server_started") ?? {};
  const local = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : String(host);
  const address = overrideBaseUrl ?? `http://${local.includes(":") ? `[${local}]` : local}:${port}`;
  const bootCode = seen.get("boot_code_made")?.code;
  const masterKey = seen.get("master_key_made")?.path;
  return [
    `Sealpush ${version} is running: ${address}`,
    "  Open it in a browser, create a push and send the link.",
    bootCode === undefined
      ? `  Sign in: ${address}/users/sign_in`
      : `  Become the administrator: ${address}/first_run, with the boot code ${bootCode}`,
    masterKey === undefined
      ? `  Data: ${shownPath(dataDir)}`
      : `  Data: ${shownPath(dataDir)}. Keep a copy of ${shownPath(String(masterKey))}: without it, no data can be opened.`,
    "  Stop with Ctrl-C.",
  ];
}

function shownPath(path: string): string {
  const fromHere = relative("", path);
  return fromHere.startsWith("..") ? path : `./${fromHere}`;
}
