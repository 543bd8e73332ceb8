import type { CliIo } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";

/** 1024 characters of four bytes each, and the line end. */
const lineBytesMax = 4 * 1_024 + 2;
const lineFeed = 0x0a;

/** The single line on standard input, for what must not be seen in the list of processes, without its end. @throws CommandRefused if the input is anything else. */
export async function readLine({ stdin, stderr }: Pick<CliIo, "stdin" | "stderr">, what: string): Promise<string> {
  const isTerminal = stdin.isTTY === true;
  if (isTerminal) stderr(`The ${what}, which this terminal shows: `);
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of stdin) {
    sizeBytes += chunk.length;
    if (sizeBytes > lineBytesMax) throw new CommandRefused(`The ${what} on standard input is too long.`);
    chunks.push(chunk);
    // The input of a terminal goes on after the line.
    if (isTerminal && chunk.at(-1) === lineFeed) break;
  }
  const text = decodeUtf8(Buffer.concat(chunks), what).replace(/\r?\n$/, "");
  if (/[\r\n]/.test(text)) {
    throw new CommandRefused(`Standard input has several lines: give the ${what} as the only line.`);
  }
  return text;
}

function decodeUtf8(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CommandRefused(`The ${what} on standard input is not UTF-8.`);
  }
}
