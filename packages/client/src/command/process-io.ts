import { homedir } from "node:os";
import { isatty } from "node:tty";
import type { CommandIo } from "./io.ts";
import { openTerminal } from "./terminal.ts";

/** The input and output of this process. */
export function processIo(): CommandIo {
  // A reader that stops early, such as `head`, is not a failure of the command.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  const controller = new AbortController();
  // The first signal lets the command clean up; a second one of the same name has its default effect.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(name, () => controller.abort(new Error(`Interrupted (${name}).`)));
  }
  // Ends a command that waits for its input.
  controller.signal.addEventListener("abort", () => process.stdin.destroy(controller.signal.reason));
  const interrupt = () => controller.abort(new Error("Interrupted."));
  return {
    stdout: (text) => process.stdout.write(text),
    stderr: (text) => process.stderr.write(text),
    pipe: (bytes) =>
      new Promise((resolve, reject) => process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))),
    stdin: process.stdin,
    terminals: { stdin: isatty(0), stdout: isatty(1), stderr: isatty(2) },
    ask: isatty(2) ? openTerminal(controller.signal, interrupt) : undefined,
    environment: process.env,
    homeFolder: homedir(),
    interruption: controller.signal,
  };
}
