import { homedir } from "node:os";
import { isatty } from "node:tty";
import { type CommandIo, CommandRefused, exitCodes } from "./io.ts";
import { systemReason } from "./system-error.ts";
import { openTerminal } from "./terminal.ts";
import { harmless } from "./text.ts";

/**
 * The input and output of this process. All texts for people go through it, so that no verb can forget to make the texts of a
 * server harmless: they may come from a hostile one, and also a pipe may end at a terminal.
 */
export function processIo(): CommandIo {
  let isPiped = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A reader that stops early, such as `head`, is not a failure of the command. The command itself reports what `pipe` throws.
    if (error.code === "EPIPE" || isPiped) return;
    process.stderr.write(`${outputProblem(error)}\n`);
    process.exitCode = exitCodes.failed;
  });
  const controller = new AbortController();
  // The first signal lets the command clean up; a second one of the same name has its default effect.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(name, () => controller.abort(new Error(`Interrupted (${name}).`)));
  }
  // Ends a command that waits for its input.
  controller.signal.addEventListener("abort", () => {
    // A command that reads its input gets the reason from there. Any other, such as one that sends a file, goes on to its end.
    process.stdin.on("error", () => undefined).destroy(controller.signal.reason);
  });
  const interrupt = () => controller.abort(new Error("Interrupted."));
  return {
    stdout: (text) => process.stdout.write(harmless(text, "\n\t")),
    stderr: (text) => process.stderr.write(harmless(text, "\n\t")),
    status: (line) => process.stderr.write(`\r\u001b[K${harmless(line)}`),
    pipe: (bytes) => {
      isPiped = true;
      return new Promise((resolve, reject) =>
        process.stdout.write(bytes, (error) => (error ? reject(new CommandRefused(outputProblem(error))) : resolve())),
      );
    },
    stdin: process.stdin,
    terminals: { stdin: isatty(0), stdout: isatty(1), stderr: isatty(2) },
    ask: isatty(2) ? openTerminal(controller.signal, interrupt) : undefined,
    environment: process.env,
    homeFolder: homedir(),
    interruption: controller.signal,
  };
}

function outputProblem({ code = "" }: NodeJS.ErrnoException): string {
  return code === "EPIPE"
    ? "Standard output was closed before everything was written."
    : `Standard output cannot be written (${systemReason(code)}).`;
}
