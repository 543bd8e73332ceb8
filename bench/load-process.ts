import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { nodeOn } from "./cores.ts";
import type { LoadJob, LoadResult } from "./load-job.ts";

/** Controls the process of the load generator. */
export class LoadProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  constructor(core: number | undefined) {
    const [command, parameters] = nodeOn(core, [fileURLToPath(new URL("load.ts", import.meta.url))]);
    this.#child = spawn(command, parameters, {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      serialization: "advanced",
    });
    this.#exited = once(this.#child, "exit");
  }

  async run(job: LoadJob): Promise<LoadResult> {
    const exited = this.#exited.then((): never => {
      throw new Error("The load generator ended.");
    });
    this.#child.send(job);
    const [result]: LoadResult[] = await Promise.race([once(this.#child, "message"), exited]);
    if (result === undefined) throw new Error("The load generator answered nothing.");
    return result;
  }

  close(): void {
    this.#child.kill();
  }
}
