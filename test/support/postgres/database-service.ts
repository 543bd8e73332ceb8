import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Databases } from "./databases.ts";

/**
 * Hands out databases to the processes of one test run, over HTTP on 127.0.0.1: `POST /` answers the address of
 * one with the schema, `POST /bare` that of one without, `DELETE /NAME` returns one. The PostgreSQL server starts with the
 * first request.
 */
export interface DatabaseService extends AsyncDisposable {
  readonly address: string;
}

export async function openDatabaseService(): Promise<DatabaseService> {
  let started: Promise<Databases> | undefined;
  const answer = async (request: IncomingMessage): Promise<string> => {
    started ??= Databases.start();
    const databases = await started;
    const path = (request.url ?? "").slice(1);
    if (request.method === "POST") return await (path === "bare" ? databases.makeBare() : databases.take());
    await databases.giveBack(path);
    return "";
  };
  const http = createServer((request, response) => void settle(answer(request), response)).listen(0, "127.0.0.1");
  await once(http, "listening");
  const address = http.address();
  if (typeof address !== "object" || address === null) throw new Error("The service listens on no port.");
  return {
    address: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      http.close();
      // The caller has already got the error of a server that failed to start.
      const databases = await started?.catch(() => undefined);
      await databases?.[Symbol.asyncDispose]();
    },
  };
}

async function settle(answer: Promise<string>, response: ServerResponse): Promise<void> {
  try {
    response.end(await answer);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}
