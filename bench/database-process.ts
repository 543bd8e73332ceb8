import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { nodeOn } from "./cores.ts";
import type { DatabaseJob, DatabasePlace, DatabaseResult } from "./database-job.ts";

/** Controls the process that sends the bare statements. */
export class DatabaseProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #exited: Promise<never>;

  private constructor(child: ChildProcess, pid: number) {
    this.pid = pid;
    this.#child = child;
    this.#exited = once(child, "exit").then((): never => {
      throw new Error("The process of the bare statements ended.");
    });
    // Reported by the function that waits for an answer.
    this.#exited.catch(() => undefined);
  }

  static async start(core: number | undefined, place: DatabasePlace): Promise<DatabaseProcess> {
    const [command, parameters] = nodeOn(core, [fileURLToPath(new URL("database-load.ts", import.meta.url))]);
    const child = spawn(command, parameters, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    if (child.pid === undefined) throw new Error("The process of the bare statements did not start.");
    const started = new DatabaseProcess(child, child.pid);
    await started.#ask(place);
    return started;
  }

  async run(job: DatabaseJob): Promise<DatabaseResult> {
    const result = await this.#ask(job);
    if (typeof result !== "object" || result === null || !("done" in result) || !("elapsedMs" in result)) {
      throw new Error("The process of the bare statements answered nothing.");
    }
    return { done: Number(result.done), elapsedMs: Number(result.elapsedMs) };
  }

  close(): void {
    this.#child.kill();
  }

  async #ask(message: DatabaseJob | DatabasePlace): Promise<unknown> {
    this.#child.send(message);
    const [answer]: unknown[] = await Promise.race([once(this.#child, "message"), this.#exited]);
    return answer;
  }
}
