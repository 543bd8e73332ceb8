import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";

/** What is typed once the terminal shows this text. */
export interface Answer {
  readonly to: string;
  readonly type: string;
}

interface Surroundings {
  readonly cwd?: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Runs a command at a terminal, which shows all of its output, to its end. */
export async function runAtTerminal(
  command: readonly string[],
  surroundings: Surroundings,
  answers: readonly Answer[],
): Promise<{ exitCode: number | null; shown: string }> {
  // Without a shell between the terminal and the command, Ctrl-C goes to the command only.
  const words = command.map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["--quiet", "--return", "--command", `exec ${words}`, "/dev/null"], surroundings);
  onTestFinished(() => void child.kill("SIGKILL"));
  let shown = "";
  let unread = "";
  const waiting = [...answers];
  child.stdout.on("data", (chunk) => {
    shown += String(chunk);
    unread += String(chunk);
    const [next] = waiting;
    if (next === undefined || !unread.includes(next.to)) return;
    waiting.shift();
    unread = "";
    child.stdin.write(next.type);
  });
  const exitCode = await new Promise<number | null>((done, failed) => child.on("close", done).on("error", failed));
  return { exitCode, shown };
}
