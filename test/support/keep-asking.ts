import { Agent, request } from "node:http";

export interface Load {
  /** Requests that were answered as they should be. */
  readonly answered: number;
  /** What went wrong with the others. */
  readonly failures: readonly string[];
  /** Resolves when so many more have been answered. */
  more(count: number): Promise<void>;
  /** No new requests; resolves when all have ended. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  readonly port: number;
  /** Clients that use one connection for as long as it stands. */
  readonly keptAlive: number;
  /** Clients that open another connection for each request. */
  readonly fresh: number;
  /** Failures that are no fault, by the system's code. */
  readonly expected?: readonly string[];
}

/** A server that ends leaves its clients so much time for a last request that one which was halted is not late. */
export const timeForALastRequest = { PWP__SHUTDOWN_IDLE_SECONDS: "20" };

const body = JSON.stringify({ push: { payload: "asked without end", expire_after_views: 1 } });

/** Clients that create pushes one after the other and open each; whatever is not answered so counts as a failure. */
export function keepAsking({ port, keptAlive, fresh, expected = [] }: LoadOptions): Load {
  let stopped = false;
  let answered = 0;
  const failures: string[] = [];
  const onAnswered = new Set<() => void>();

  async function ask(agent: Agent | false, method: string, path: string, status: number): Promise<unknown> {
    const answer = await send({ port, agent, method, path });
    if (answer.status !== status) throw new Error(`${method} was answered by ${answer.status}: ${answer.text}`);
    answered += 1;
    for (const theme of onAnswered) theme();
    return JSON.parse(answer.text);
  }

  async function loop(agent: Agent | false): Promise<void> {
    while (!stopped) {
      try {
        const made = await ask(agent, "POST", "/api/v2/pushes", 201);
        await ask(agent, "GET", `/api/v2/pushes/${urlTokenOf(made)}`, 200);
      } catch (error) {
        const code = error instanceof Error && "code" in error ? String(error.code) : "";
        if (!expected.includes(code))
          failures.push(`${code} ${String(error)} ${agent === false ? "fresh" : "kept alive"}`);
      }
    }
    if (agent !== false) agent.destroy();
  }

  const loops = [
    ...Array.from({ length: keptAlive }, () => loop(new Agent({ keepAlive: true, maxSockets: 1 }))),
    ...Array.from({ length: fresh }, () => loop(false)),
  ];
  return {
    get answered() {
      return answered;
    },
    failures,
    more(count) {
      const enough = answered + count;
      return new Promise((resolve) => {
        const theme = () => {
          if (answered < enough) return;
          onAnswered.delete(theme);
          resolve();
        };
        onAnswered.add(theme);
      });
    },
    async stop() {
      stopped = true;
      await Promise.all(loops);
    },
  };
}

function urlTokenOf(push: unknown): string {
  if (typeof push === "object" && push !== null && "url_token" in push) return String(push.url_token);
  throw new Error("A push without its token.");
}

interface Question {
  readonly port: number;
  readonly agent: Agent | false;
  readonly method: string;
  readonly path: string;
}

function send({ port, agent, method, path }: Question): Promise<{ readonly status: number; readonly text: string }> {
  const content = method === "POST" ? body : "";
  const headers = { "content-type": "application/json", "content-length": content.length };
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, agent, method, path, headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => {
        text += chunk;
      });
      answer.on("error", reject);
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    asked.on("error", reject);
    asked.end(content);
  });
}
