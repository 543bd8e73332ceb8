import { Agent, request } from "node:http";

export interface Load {
  /** Number of requests with the expected response. */
  readonly answered: number;
  /** One message per failed request. */
  readonly failures: readonly string[];
  /** Resolves after this many further responses. */
  more(count: number): Promise<void>;
  /** Sends no new requests; resolves when the pending ones have ended. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  readonly port: number;
  /** Number of clients that keep their connection alive. */
  readonly keptAlive: number;
  /** Number of clients that open a connection per request. */
  readonly fresh: number;
  /** System error codes that do not count as failures. */
  readonly expected?: readonly string[];
}

/** A stopping server waits this long for a client's last request, so that a client on a busy machine is in time. */
export const longIdleGrace = { PWP__SHUTDOWN_IDLE_SECONDS: "20" };

const body = JSON.stringify({ push: { payload: "from the load test", expire_after_views: 1 } });

/** Starts clients that create and retrieve pushes in a loop. Every unexpected response counts as a failure. */
export function startRequestLoad({ port, keptAlive, fresh, expected = [] }: LoadOptions): Load {
  let stopped = false;
  let answered = 0;
  const failures: string[] = [];
  const onAnswered = new Set<() => void>();

  async function ask(agent: Agent | false, method: string, path: string, status: number): Promise<unknown> {
    const answer = await send({ port, agent, method, path });
    if (answer.status !== status) throw new Error(`${method} was answered by ${answer.status}: ${answer.text}`);
    answered += 1;
    for (const check of onAnswered) check();
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
        const check = () => {
          if (answered < enough) return;
          onAnswered.delete(check);
          resolve();
        };
        onAnswered.add(check);
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
  throw new Error("The response has no url_token.");
}

interface LoadRequest {
  readonly port: number;
  readonly agent: Agent | false;
  readonly method: string;
  readonly path: string;
}

function send({ port, agent, method, path }: LoadRequest): Promise<{ readonly status: number; readonly text: string }> {
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
