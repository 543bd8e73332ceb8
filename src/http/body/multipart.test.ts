import fc from "fast-check";
import { expect, test } from "vitest";
import { AppError } from "../../base/errors.ts";
import { MultipartReader, multipartBoundary } from "./multipart.ts";

interface Part {
  readonly name: string;
  readonly filename: string | undefined;
  readonly content: Buffer;
}

async function* inPieces(body: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (let turn = 0; at < body.length; turn += 1) {
    const size = Math.max(1, sizes[turn % Math.max(1, sizes.length)] ?? body.length);
    yield body.subarray(at, at + size);
    at += size;
  }
}

async function readAll(body: Buffer | string, boundary = "b", sizes: readonly number[] = []): Promise<Part[]> {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
  const reader = new MultipartReader(inPieces(bytes, sizes), boundary);
  const parts: Part[] = [];
  for (let part = await reader.nextPart(); part !== undefined; part = await reader.nextPart()) {
    const chunks: Buffer[] = [];
    for await (const chunk of reader.content()) chunks.push(chunk);
    parts.push({ name: part.name, filename: part.filename, content: Buffer.concat(chunks) });
  }
  return parts;
}

const field = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const fileHead = (disposition: string) =>
  `--b\r\nContent-Disposition: form-data; name="f"; ${disposition}\r\n\r\n\r\n--b--`;
const filenameIn = async (disposition: string) => (await readAll(fileHead(disposition)))[0]?.filename;

test("fields and files are read regardless of the chunks they arrive in", async () => {
  const content = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
  const tricky = fc
    .constantFrom("\r\n--b", "\r\n--", "\r\n", "--boundar", "\r\n--boundar", "")
    .map((text) => Buffer.from(text));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(content, tricky), { maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 8 }),
      async (contents, sizes) => {
        const parts = contents.map(([bytes, end], index) => ({
          name: `n${index}`,
          filename: index % 2 === 0 ? undefined : `file ${index}`,
          content: Buffer.concat([bytes, end]),
        }));
        const body = Buffer.concat([
          ...parts.flatMap(({ name, filename, content: bytes }) => [
            Buffer.from(`--boundary\r\nContent-Disposition: form-data; name="${name}"`),
            Buffer.from(`${filename === undefined ? "" : `; filename="${filename}"`}\r\n\r\n`),
            bytes,
            Buffer.from("\r\n"),
          ]),
          Buffer.from("--boundary--\r\nepilogue"),
        ]);
        fc.pre(parts.every(({ content: bytes }) => !bytes.includes("\r\n--boundary")));
        expect(await readAll(body, "boundary", sizes)).toEqual(parts);
      },
    ),
  );
});

test("a preamble, spaces after the boundary and a part whose content is not read", async () => {
  const reader = new MultipartReader(
    inPieces(
      Buffer.from(`hello\r\n${field("a", "x".repeat(500)).replace("--b\r\n", "--b \t\r\n")}${field("c", "d")}--b--`),
      [7],
    ),
    "b",
  );
  expect((await reader.nextPart())?.name).toBe("a");
  expect((await reader.nextPart())?.name).toBe("c");
  expect(await reader.nextPart()).toBeUndefined();
});

test("file names as browsers, other clients and old browsers send them", async () => {
  expect(await filenameIn('filename="naïve 😀.txt"')).toBe("naïve 😀.txt");
  expect(await filenameIn('filename="a%22b%0D%0A.txt"')).toBe('a"b\r\n.txt');
  expect(await filenameIn('filename="a\\"b.txt"')).toBe('a"b.txt');
  expect(await filenameIn('filename="C:\\dir\\a.txt"')).toBe("C:\\dir\\a.txt");
  expect(await filenameIn("filename=plain.txt")).toBe("plain.txt");
  expect(await filenameIn("filename=\"x\"; filename*=UTF-8''na%C3%AFve%20.txt")).toBe("naïve .txt");
  expect(await filenameIn('filename=""')).toBe("");
  expect(await filenameIn('filename="a;b=c.txt"')).toBe("a;b=c.txt");
});

test.each([
  ["nothing", ""],
  ["no boundary", "hello"],
  ["no closing boundary", field("a", "b")],
  ["cut inside the headers", "--b\r\nContent-Dispo"],
  ["cut inside the content", '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nhalf'],
  ["cut after the boundary", `${field("a", "b")}--b`],
  ["no headers", "--b\r\n\r\nx\r\n--b--"],
  ["no name", "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--"],
  ["another disposition", '--b\r\nContent-Disposition: attachment; name="a"\r\n\r\nx\r\n--b--'],
  ["text after the boundary", '--bx\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--'],
  ["a line without a colon", '--b\r\nnonsense\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--'],
  [
    "an unknown transfer encoding",
    '--b\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: x-uuencode\r\n\r\nx\r\n--b--',
  ],
  ["a broken extended name", "--b\r\nContent-Disposition: form-data; name=a; filename*=UTF-8''%ff\r\n\r\nx\r\n--b--"],
  ["headers without end", `--b\r\n${"A: b\r\n".repeat(10_000)}`],
  ["a preamble without end", "x".repeat(100_000)],
  ["too many parts", `${field("a", "")}`.repeat(641)],
])("%s is refused", async (_, body) => {
  await expect(readAll(body, "b", [1_000])).rejects.toBeInstanceOf(AppError);
});

test("the boundary of a content type", () => {
  expect(multipartBoundary("multipart/form-data; boundary=abc")).toBe("abc");
  expect(multipartBoundary('multipart/form-data; charset=x; BOUNDARY="a b"; z=1')).toBe("a b");
  expect(multipartBoundary("multipart/form-data")).toBeUndefined();
  expect(multipartBoundary("multipart/form-data; boundary=")).toBeUndefined();
  expect(multipartBoundary(`multipart/form-data; boundary=${"a".repeat(71)}`)).toBeUndefined();
});

test("file content is passed on without copying each chunk, even if a chunk ends with a line end", async () => {
  const head = Buffer.from('--b\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n');
  const chunks = ["first", "second\n", "third\r\r", "fourth"].map((text) => Buffer.from(text));
  async function* pieces(): AsyncGenerator<Buffer> {
    yield* [head, ...chunks, Buffer.from("\r\n--b--")];
  }
  const reader = new MultipartReader(pieces(), "b");
  await reader.nextPart();
  const handedOn: Buffer[] = [];
  for await (const chunk of reader.content()) handedOn.push(chunk);
  expect(Buffer.concat(handedOn)).toEqual(Buffer.concat(chunks));
  // All bytes except those that may begin a delimiter, which are passed on later.
  expect(handedOn.map(String)).toEqual(["first", "second\n", "third\r", "\rfourth"]);
  const placeOf = (chunk: Buffer | undefined) => [chunk?.buffer, chunk?.byteOffset];
  for (const index of [0, 1]) expect(placeOf(handedOn[index])).toEqual(placeOf(chunks[index]));
});
