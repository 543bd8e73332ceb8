import fc from "fast-check";
import { expect, test } from "vitest";
import { contentDecoder } from "./transfer-encoding.ts";

async function* inPieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function decode(encoding: string, text: string, size = 1_000): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of contentDecoder(encoding)(inPieces(text, size))) chunks.push(chunk);
  expect(chunks.filter(({ length }) => length === 0)).toEqual([]);
  return Buffer.concat(chunks);
}

const inLines = (text: string) => text.replace(/.{1,76}/g, "$&\r\n");

/** Every byte that is not printable is encoded, and lines are broken after 60 bytes. */
function quotedPrintable(bytes: Buffer): string {
  const codes = [...bytes].map((byte, at) => {
    const isPlain = byte > 0x20 && byte < 0x7f && byte !== 0x3d;
    const code = isPlain ? String.fromCharCode(byte) : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    return at % 60 === 59 ? `${code}=\r\n` : code;
  });
  return codes.join("");
}

test("any bytes are decoded, in whatever pieces they arrive", async () => {
  const bytes = fc.uint8Array({ maxLength: 400 }).map((content) => Buffer.from(content));
  await fc.assert(
    fc.asyncProperty(bytes, fc.integer({ min: 1, max: 90 }), async (content, size) => {
      expect(await decode("BASE64", inLines(content.toString("base64")), size)).toEqual(content);
      expect(await decode("Quoted-Printable", quotedPrintable(content), size)).toEqual(content);
      expect(await decode("binary", content.toString("latin1"), size)).toEqual(content);
    }),
  );
});

test("line ends of the text, soft line breaks and blanks that a transport added are distinguished", async () => {
  const text = "one  \r\ntwo=20\t\nthree =  \r\nfour=\nfive=3d=3D";
  expect((await decode("quoted-printable", text)).toString()).toBe("one\r\ntwo \nthree fourfive==");
});

test.each([
  ["base64", "YQ=", "incomplete"],
  ["base64", "YQ", "without its padding"],
  ["base64", "YQ==YQ==", "more after the padding"],
  ["base64", "Y*==", "another character"],
  ["base64", "-_-_", "another alphabet"],
  ["base64", "\r\n".repeat(100_000), "line ends alone"],
  ["quoted-printable", "=4", "an incomplete code"],
  ["quoted-printable", "=XY", "no code"],
  ["quoted-printable", "=\r\n".repeat(100_000), "line breaks alone"],
  ["quoted-printable", "a".repeat(100_000), "a line without an end"],
])("%s is refused: %s", async (encoding, text) => {
  await expect(decode(encoding, text)).rejects.toMatchObject({ code: "invalid_request" });
});

test("a long run of blanks is read once", async () => {
  const blanks = " ".repeat(60_000);
  expect((await decode("quoted-printable", `${blanks}x\r\n`.repeat(20))).length).toBe(60_003 * 20);
});

test.each(["x-uuencode", "gzip", "constructor"])("%s is an unsupported type", (encoding) => {
  expect(() => contentDecoder(encoding)).toThrow(expect.objectContaining({ code: "unsupported_media_type" }));
});
