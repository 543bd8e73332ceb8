import { connect } from "node:net";

/** Sends bytes as they are and reads until the server closes or `until` is found. @returns everything it sent. */
export function rawRequest(origin: string, bytes: string | Buffer, until?: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => {
      received += text;
      if (until !== undefined && received.includes(until)) socket.destroy();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNRESET" || error.code === "EPIPE") resolve(received);
      else reject(error);
    });
    socket.on("close", () => resolve(received));
  });
}
