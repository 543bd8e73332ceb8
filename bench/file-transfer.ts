import { createHash, randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { peakResidentBytes } from "./process-figures.ts";
import type { Figure } from "./report.ts";
import { runSealpush, startSealpush } from "./sealpush-process.ts";

/**
 * One large file through the real server: sent as multipart, sealed and stored, claimed, and read back through its
 * ticket. The content must be identical; the server's memory must not grow with the file.
 */

const chunkBytes = 1024 ** 2;
const boundary = "sealpush-bench-boundary";
const megabyte = 1e6;
const peakMbMax = 200;
/** In addition, two parts of the blob and the connections to the store are in memory. */
const peakElsewhereMbMax = 240;

const email = "bench@example.com";
const password = randomBytes(18).toString("base64url");

export async function measureFileTransfer(
  core: number | undefined,
  dataDir: string,
  bytes: number,
  elsewhere?: { readonly name: string; readonly environment: Readonly<Record<string, string>> },
): Promise<{ figures: readonly Figure[]; broken: readonly string[] }> {
  runSealpush(dataDir, ["user", "create", "--email", email, "--password-stdin"], `${password}\n`);
  const token = runSealpush(dataDir, ["token", "create", "--email", email, "--name", "bench"], "");
  const server = await startSealpush(core, dataDir, elsewhere?.environment);
  const sent = createHash("sha256");

  const uploadStartedAt = performance.now();
  const pushed = await upload(server.port, token, bytes, (chunk) => sent.update(chunk));
  const uploadMs = performance.now() - uploadStartedAt;
  const peakAfterUpload = peakResidentBytes(server.pid);

  const claimed = await fetch(`http://127.0.0.1:${server.port}/api/v2/pushes/${textAt(pushed, "url_token")}.json`);
  const [file]: unknown[] = Object(await claimed.json()).files;
  const received = createHash("sha256");
  const downloadStartedAt = performance.now();
  const receivedBytes = await download(textAt(file, "url"), (chunk) => received.update(chunk));
  const downloadMs = performance.now() - downloadStartedAt;
  const peak = peakResidentBytes(server.pid);
  await server.stop();

  const atMost = elsewhere === undefined ? peakMbMax : peakElsewhereMbMax;
  const whole = receivedBytes === bytes && received.digest("hex") === sent.digest("hex");
  const name = `file of ${bytes / 1024 ** 2} MiB${elsewhere === undefined ? "" : ` in ${elsewhere.name}`}`;
  return {
    figures: [
      { name: `${name}: upload`, value: bytes / megabyte / (uploadMs / 1_000), unit: "MB/s" },
      { name: `${name}: download`, value: bytes / megabyte / (downloadMs / 1_000), unit: "MB/s" },
      { name: `${name}: server's peak memory after the upload`, value: peakAfterUpload / megabyte, unit: "MB" },
      { name: `${name}: server's peak memory`, value: peak / megabyte, unit: "MB", wanted: { atMost } },
    ],
    broken: whole ? [] : [`the file came back with ${receivedBytes} bytes and another SHA-256 than it was sent with`],
  };
}

/** Streams one file part, made of random blocks that repeat with a counter: the file is never in memory as a whole. */
async function upload(port: number, token: string, bytes: number, onChunk: (chunk: Buffer) => void): Promise<unknown> {
  const disposition = 'Content-Disposition: form-data; name="push[files][]"; filename="large.bin"';
  const head = `--${boundary}\r\n${disposition}\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const block = randomBytes(chunkBytes);
  function* body(): Generator<Buffer> {
    yield Buffer.from(head);
    for (let left = bytes; left > 0; left -= chunkBytes) {
      const chunk = Buffer.from(block.subarray(0, Math.min(left, chunkBytes)));
      chunk.writeUInt32BE(left >>> 0, 0);
      onChunk(chunk);
      yield chunk;
    }
    yield Buffer.from(tail);
  }
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": `multipart/form-data; boundary=${boundary}`,
    "content-length": head.length + bytes + tail.length,
  };
  const request = httpRequest({ host: "127.0.0.1", port, method: "POST", path: "/api/v2/pushes", headers });
  const answered = new Promise<unknown>((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => {
        const text = Buffer.concat(parts).toString("utf8");
        if (response.statusCode === 201) resolve(JSON.parse(text));
        else reject(new Error(`The upload was answered with ${response.statusCode}: ${text}`));
      });
    });
  });
  const [answer] = await Promise.all([answered, pipeline(Readable.from(body()), request)]);
  return answer;
}

async function download(url: string, onChunk: (chunk: Uint8Array) => void): Promise<number> {
  const response = await fetch(url);
  if (response.status !== 200 || response.body === null) throw new Error(`The download answered ${response.status}.`);
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    onChunk(chunk);
  }
  return bytes;
}

function textAt(value: unknown, name: string): string {
  const text: unknown = Reflect.get(Object(value), name);
  if (typeof text !== "string") throw new Error(`The answer has no ${name}.`);
  return text;
}
