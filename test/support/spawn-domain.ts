import { fork } from "node:child_process";
import { resolve } from "node:path";
import { inject, onTestFinished } from "vitest";
import type { Command, CommandMessage, Report } from "./domain-process.ts";
import { settingsOfEngine } from "./engine.ts";

const program = resolve(import.meta.dirname, "domain-process.ts");

export interface DomainProcess {
  /** @param at when to start, ms since the epoch; default: at once. @throws the error of the other process. */
  ask(command: Command, at?: number): Promise<readonly string[]>;
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>;
}

/** Starts a process that can open a domain; it ends with the test. */
function spawnDomain(): DomainProcess {
  const child = fork(program, { env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: inject("compileCache") } });
  const waiting = new Map<number, { resolve: (answer: readonly string[]) => void; reject: (error: Error) => void }>();
  let orders = 0;
  child.on("message", (report: Report) => {
    const asked = waiting.get(report.number);
    waiting.delete(report.number);
    if (report.error === undefined) asked?.resolve(report.answer ?? []);
    else asked?.reject(new Error(report.error));
  });
  const ended = new Promise<void>((done) => {
    child.on("exit", (code) => {
      for (const { reject } of waiting.values()) reject(new Error(`The process ended with ${code}.`));
      done();
    });
  });
  const kill = () => {
    child.kill("SIGKILL");
    return ended;
  };
  onTestFinished(kill);
  return {
    kill,
    async ask(given, at = 0) {
      const command = given.do === "open" ? await onEngine(given) : given;
      return await new Promise((resolve, reject) => {
        orders += 1;
        const order: CommandMessage = { number: orders, at, command };
        waiting.set(order.number, { resolve, reject });
        child.send(order);
      });
    },
  };
}

async function onEngine(command: Extract<Command, { do: "open" }>): Promise<Command> {
  const { dataDir, environment } = command;
  return { ...command, environment: { ...(await settingsOfEngine(dataDir, environment)), ...environment } };
}

/** @returns that many processes with a domain open on the folder. */
export async function spawnOpenDomains(
  count: number,
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<readonly DomainProcess[]> {
  const domains = Array.from({ length: count }, spawnDomain);
  await Promise.all(domains.map((domain) => domain.ask({ do: "open", dataDir, environment })));
  return domains;
}

/** A time so far in the future that all processes receive their commands before it. */
export function soon(): number {
  return Date.now() + 15;
}
