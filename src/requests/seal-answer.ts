import { beginning, end } from "@sealpush/age/armor";

const sliceBytes = 64 * 1024;
const lineBytes = 48;

/**
 * Seals a text as an armored age file, like `sealText` without a passphrase, in slices: at once, 4 MiB would stop the event
 * loop for most of a second.
 * @param nextTurn resolves after the event loop has served everything else that is ready.
 */
export async function sealInSlices(text: string, recipient: string, nextTurn: () => Promise<unknown>): Promise<string> {
  const { sealFile } = await import("@sealpush/age/seal");
  const sealed = await sealFile(slicesOf(Buffer.from(text, "utf8"), nextTurn), recipient);
  let armored = `${beginning}\n`;
  let rest = Buffer.alloc(0);
  for await (const chunk of sealed) {
    const bytes = Buffer.concat([rest, chunk]);
    const wholeBytes = bytes.length - (bytes.length % lineBytes);
    armored += inLines(bytes.subarray(0, wholeBytes));
    rest = bytes.subarray(wholeBytes);
  }
  // The caller goes on with the whole.
  await nextTurn();
  return `${armored}${inLines(rest)}${end}\n`;
}

function slicesOf(bytes: Buffer, nextTurn: () => Promise<unknown>): ReadableStream<Uint8Array> {
  let start = 0;
  return new ReadableStream({
    async pull(controller) {
      await nextTurn();
      if (start < bytes.length) controller.enqueue(bytes.subarray(start, start + sliceBytes));
      start += sliceBytes;
      if (start >= bytes.length) controller.close();
    },
  });
}

function inLines(bytes: Buffer): string {
  return bytes.toString("base64").replace(/.{1,64}/g, "$&\n");
}
