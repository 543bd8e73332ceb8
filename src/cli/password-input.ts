import { CommandRefused } from "./errors.ts";

/** 1024 characters of four bytes each, and the line's end. */
const inputBytesMax = 4 * 1_024 + 2;

/** The one line on standard input, without its end. @throws CommandRefused when it is something else. */
export async function readPassword(stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of stdin) {
    sizeBytes += chunk.length;
    if (sizeBytes > inputBytesMax) throw new CommandRefused("The password on standard input is too long.");
    chunks.push(chunk);
  }
  const text = decode(Buffer.concat(chunks)).replace(/\r?\n$/, "");
  if (/[\r\n]/.test(text)) {
    throw new CommandRefused("Standard input has several lines: give the password as one line and nothing else.");
  }
  return text;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CommandRefused("The password on standard input is not UTF-8.");
  }
}
