import { connect } from "node:net";

/** Resolves when nothing listens on the port. */
export async function refusesConnections(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const accepted = await new Promise<boolean>((resolve, reject) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", (error: Error & { code?: string }) => {
        if (error.code === "ECONNREFUSED") resolve(false);
        else if (error.code === "ECONNRESET") resolve(true);
        else reject(error);
      });
    });
    socket.destroy();
    if (!accepted) return;
  }
}
