import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/**
 * Fills the folder of compiled code by a server that answers a few requests and stops. Node writes the code of a module once, when a
 * process ends by itself, with the functions that this process has used: a start with what a short command has left takes a quarter
 * more time, and most servers of tests are killed.
 * @param folder of the run.
 */
export async function fillCompileCache(program: string, folder: string, compileCache: string): Promise<void> {
  const server = spawn(process.execPath, ["--", program, "serve"], {
    env: { DATA_DIR: join(folder, "compile-cache"), NODE_COMPILE_CACHE: compileCache, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(server, "exit");
  for await (const line of createInterface(server.stdout)) {
    const { event, port } = JSON.parse(line);
    if (event !== "server_started") continue;
    await sendRequests(`http://127.0.0.1:${port}`);
    server.kill();
  }
  const [exitCode] = await ended;
  if (exitCode !== 0) throw new Error(`The server that fills the compile cache ended with ${exitCode}.`);
}

async function sendRequests(origin: string): Promise<void> {
  const body = JSON.stringify({ push: { payload: "secret" } });
  const headers = { "content-type": "application/json" };
  const made = await fetch(`${origin}/api/v2/pushes`, { method: "POST", headers, body });
  const { url_token: urlToken } = await made.json();
  for (const path of ["/", `/p/${urlToken}/r`, `/api/v2/pushes/${urlToken}`]) await (await fetch(origin + path)).text();
}
