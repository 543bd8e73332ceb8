import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { secondMs } from "../../base/clock.ts";
import type { Config } from "../../config/config.ts";

const connectionsMax = 100;
const requestMsMax = 10 * secondMs;
const retryAfterSeconds = 5;

type Progress = Record<"users" | "pushes", { readonly read: number; readonly total: number } | null>;

/** Listens in the server's place while data are imported, and answers every request with 503 and the progress. */
export async function openProgressServer({ host, port }: Pick<Config, "host" | "port">) {
  const progress: Progress = { users: null, pushes: null };
  const server = createServer({ headersTimeout: requestMsMax, requestTimeout: requestMsMax }, (request, response) =>
    answer(request, response, progress),
  );
  server.maxConnections = connectionsMax;
  server.listen({ host, port });
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    report(table: "users" | "pushes", read: number, total: number): void {
      progress[table] = { read, total };
    },
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function answer({ headers }: IncomingMessage, response: ServerResponse, progress: Progress): void {
  const wantsText = /\btext\/(?:html|plain)\b/.test(headers.accept ?? "");
  const body = wantsText ? `${sentenceOf(progress)}\n` : JSON.stringify({ status: "moving_in", ...progress });
  response.writeHead(503, {
    "content-type": `${wantsText ? "text/plain" : "application/json"}; charset=utf-8`,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "retry-after": String(retryAfterSeconds),
    connection: "close",
  });
  response.end(body);
}

function sentenceOf({ users, pushes }: Progress): string {
  const parts = Object.entries({ users, pushes }).map(([table, count]) =>
    count === null ? `${table} not started` : `${count.read} of ${count.total} ${table}`,
  );
  return `This server is importing the data of Password Pusher: ${parts.join(", ")}. It answers when this is done.`;
}
