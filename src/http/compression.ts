import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { FastifyReply } from "fastify";

/** Larger texts are sent as they are: compressing one of this length takes about a millisecond of the event loop. */
const charactersMax = 128 * 1024;
/** Higher ones take several times as long and save a few percent. */
const brotliQuality = 6;

const encoders = {
  br: (text: string) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  gzip: (text: string) => gzipSync(text, { level: 9 }),
};

/**
 * Compresses the text if the client accepts that, and sets the headers that say so. Threat (BREACH): an attacker who sees the
 * length of compressed answers and chooses a part of their text can guess a secret in them. So the text must not repeat anything
 * that another site can choose: from the address, the query or the body of the request.
 */
export function compressFor(reply: FastifyReply, text: string): string | Buffer {
  reply.header("vary", "accept-encoding");
  const coding = text.length > charactersMax ? undefined : codingFor(reply.request.raw.headers["accept-encoding"]);
  if (coding === undefined) return text;
  reply.header("content-encoding", coding);
  return encoders[coding](text);
}

/** `q=0` refuses a coding (RFC 9110, 12.4.2). */
export function codingFor(acceptEncoding: unknown): keyof typeof encoders | undefined {
  if (typeof acceptEncoding !== "string") return undefined;
  const accepted = acceptEncoding
    .toLowerCase()
    .split(",")
    .filter((item) => !/;\s*q=0(?:\.0*)?\s*$/.test(item))
    .map((item) => item.split(";")[0]?.trim());
  return (["br", "gzip"] as const).find((coding) => accepted.includes(coding));
}
