import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createPush } from "./endpoints.ts";
import { pausedReader } from "./paused-reader.ts";
import { type LargestBody, sendBody } from "./send-body.ts";

const mebibyte = 1024 * 1024;
const form = "application/x-www-form-urlencoded";

/** The addresses that attackers send from, behind the trusted proxy that the test is. */
const from = (network: number, host: number) => ({ "x-forwarded-for": `198.51.${network}.${(host % 250) + 1}` });

/**
 * All attacks that a few strangers can make at the same time. They continue until `stop` is aborted.
 * @param bodies that strangers can send; each attacker begins with another one.
 */
export async function overload(origin: string, bodies: readonly LargestBody[], stop: AbortSignal): Promise<void> {
  const makeLarge = () => createPush(origin, { payload: "\u0001".repeat(mebibyte), expire_after_views: 100 });
  let large = await makeLarge();
  const guarded = await createPush(origin, {
    payload: "guarded",
    passphrase: "correct horse battery",
    expire_after_views: 100,
  });
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  };
  const repeat = async (step: (count: number) => Promise<unknown>) => {
    for (let count = 0; !stop.aborted; count += 1) {
      // The server refuses or cuts connections of these clients.
      await step(count).catch(() => sleep(10));
    }
  };
  const attacks = [
    ...times(2, (client) =>
      repeat(async (count) => {
        if (count % 50 === 49) large = await makeLarge();
        keep(await pausedReader(origin, `/api/v2/pushes/${large.urlToken}`, from(0, client)));
        if (sockets.size > 250) for (const socket of [...sockets].slice(0, 50)) socket.destroy();
        await sleep(20);
      }),
    ),
    ...times(4, (client) =>
      repeat(async (count) => {
        // Neighbours in the list are alike; this step and the length of the list have no common divisor.
        const body = bodies[((client + 1) * (count + 1) * 7_919) % bodies.length];
        if (body !== undefined) await sendBody(origin, body, { headers: from(1, client), stop });
      }),
    ),
    ...times(8, (client) =>
      repeat(async (count) => {
        const headers = { ...from(2 + client, count), "x-push-passphrase": `guess ${count}` };
        await (await fetch(`${origin}/api/v2/pushes/${guarded.urlToken}`, { headers, signal: stop })).text();
      }),
    ),
    ...times(2, (client) =>
      repeat(async (count) => {
        const headers = { "content-type": form, "sec-fetch-site": "same-origin", ...from(10 + client, count) };
        const body = `email=nobody${count}%40example.com&password=guess`;
        await (await fetch(`${origin}/users/sign_in`, { method: "POST", headers, body, signal: stop })).text();
      }),
    ),
    repeat(async () => {
      keep(await halfRequest(origin, `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(12_000)}`));
      keep(await halfRequest(origin, ""));
      await sleep(50);
    }),
  ];
  await Promise.all(attacks);
  for (const socket of sockets) socket.destroy();
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** A connection that sends this and nothing more. */
async function halfRequest(origin: string, text: string): Promise<Socket> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname).on("error", () => undefined);
  await once(socket, "connect");
  socket.write(text);
  return socket;
}
