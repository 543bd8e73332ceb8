import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { BareAnswers } from "./bare.ts";
import { nodeOn } from "./cores.ts";

export interface ServerProcess {
  readonly pid: number;
  readonly port: number;
}

/** Starts the bare route on a core. It ends with its parent, or when `close` is called. */
export async function startBareServer(
  core: number | undefined,
  answers: BareAnswers,
): Promise<ServerProcess & { close(): void }> {
  const [command, parameters] = nodeOn(core, [fileURLToPath(new URL("bare.ts", import.meta.url))]);
  const child = spawn(command, parameters, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  child.send(answers);
  const [port]: number[] = await once(child, "message");
  if (port === undefined || child.pid === undefined) throw new Error("The bare server did not start.");
  return { pid: child.pid, port, close: () => void child.kill() };
}
