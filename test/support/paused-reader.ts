import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Sends a GET request and reads nothing of its answer: the kernel's buffers fill up, and the server waits. */
export async function pausedReader(
  origin: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Socket> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname).setEncoding("latin1").pause();
  // The server may reset the connection.
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const lines = Object.entries({ host: "localhost", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  return socket;
}
