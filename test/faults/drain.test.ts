import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { newDataDir } from "../support/processes.ts";
import { refusesConnections } from "../support/refuses-connections.ts";
import { longIdleGrace, startRequestLoad } from "../support/request-load.ts";
import { startServer } from "../support/server.ts";

/** A connection on which the test writes and reads raw bytes. */
class Line {
  readonly #socket: Socket;
  #text = "";

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      this.#text += chunk;
    });
  }

  static async open(port: number): Promise<Line> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new Line(socket);
  }

  write(text: string): void {
    this.#socket.write(text);
  }

  hangUp(): void {
    this.#socket.end();
  }

  /** Waits for a complete JSON body. @returns what arrived since the previous answer. */
  async answer(): Promise<string> {
    while (!/\r\n\r\n\{.*\}$/s.test(this.#text)) {
      if (this.#socket.closed) throw new Error(`Closed without an answer, after ${JSON.stringify(this.#text)}.`);
      await new Promise<void>((resolve) => {
        const more = () => {
          this.#socket.off("data", more).off("close", more);
          resolve();
        };
        this.#socket.on("data", more).on("close", more);
      });
    }
    const text = this.#text;
    this.#text = "";
    return text;
  }

  async ended(): Promise<void> {
    if (!this.#socket.closed) await once(this.#socket, "close");
  }
}

const question = "GET /api/v2/version HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
const ok = /^HTTP\/1\.1 200 OK\r\n/;
const goodbye = /^connection: close\r$/im;
const environment = longIdleGrace;

describe("a server that receives a stop signal", () => {
  it("answers a last request on a keep-alive connection with Connection: close", async () => {
    const server = await startServer({ dataDir: newDataDir(), environment });
    const line = await Line.open(server.port);
    line.write(question);
    expect(await line.answer()).not.toMatch(goodbye);
    process.kill(server.pid, "SIGTERM");
    await refusesConnections(server.port);
    line.write(question);
    const answer = await line.answer();
    expect(answer).toMatch(ok);
    expect(answer).toMatch(goodbye);
    await line.ended();
    expect(await server.ended).toEqual({ exitCode: 0, signal: null });
  });

  it("answers a request it has partly received, and one on a connection that had sent nothing", async () => {
    const server = await startServer({ dataDir: newDataDir(), environment });
    const [begun, silent] = [await Line.open(server.port), await Line.open(server.port)];
    begun.write(question.slice(0, 20));
    // An answer on another connection: until then, the first bytes have been read.
    const up = await fetch(`${server.baseUrl}/up`, { headers: { connection: "close" } });
    expect(up.status).toBe(200);
    process.kill(server.pid, "SIGTERM");
    await server.logged("server_stopping");
    begun.write(question.slice(20));
    silent.write(question);
    for (const line of [begun, silent]) {
      expect(await line.answer()).toMatch(ok);
      // The answer was sent before the drain, so its connection may still be open.
      line.hangUp();
    }
    expect(await server.ended).toEqual({ exitCode: 0, signal: null });
  });

  it("breaks no client's connection under continuous load", async () => {
    for (let round = 0; round < 3; round += 1) {
      const server = await startServer({ dataDir: newDataDir(), environment });
      const load = startRequestLoad({ port: server.port, keptAlive: 8, fresh: 0, expected: ["ECONNREFUSED"] });
      await load.more(100);
      expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
      await load.stop();
      expect(load.failures).toEqual([]);
    }
  });

  it("fails its readiness check first, and accepts connections until load balancers have noticed", async () => {
    const server = await startServer({
      dataDir: newDataDir(),
      environment: { ...environment, PWP__SHUTDOWN_GRACE_SECONDS: "60" },
    });
    expect(await statusOf(server.baseUrl, "/ready")).toEqual([200, null, { status: "ready" }]);
    process.kill(server.pid, "SIGTERM");
    await server.logged("server_stopping");
    expect(await statusOf(server.baseUrl, "/ready")).toEqual([503, "5", { error: "The server is stopping." }]);
    expect(await statusOf(server.baseUrl, "/up")).toEqual([200, null, { status: "up" }]);
    const load = startRequestLoad({ port: server.port, keptAlive: 2, fresh: 2 });
    await load.more(20);
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(await server.kill()).toEqual({ exitCode: null, signal: "SIGKILL" });
  });

  it("exits at the end of the grace period despite idle connections", async () => {
    const server = await startServer({
      dataDir: newDataDir(),
      environment: { PWP__SHUTDOWN_GRACE_SECONDS: "1", PWP__SHUTDOWN_IDLE_SECONDS: "1" },
    });
    const silent = await Line.open(server.port);
    expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
    await silent.ended();
  });
});

async function statusOf(baseUrl: string, path: string): Promise<[number, string | null, unknown]> {
  const answer = await fetch(`${baseUrl}${path}`);
  return [answer.status, answer.headers.get("retry-after"), await answer.json()];
}
