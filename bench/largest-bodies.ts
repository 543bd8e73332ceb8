/** One request with a body as large as the server accepts, of bytes that are expensive to read. */
export interface LargestBody {
  readonly name: string;
  readonly path: string;
  readonly type: string | undefined;
  readonly status: number;
  chunks(): Iterable<Buffer>;
}

const mebibyte = 1024 ** 2;
const jsonBytes = 26 * mebibyte;
const formBytes = 14 * mebibyte;
const fieldBytes = 6 * mebibyte;
const payloadCharacters = mebibyte;
const fileBytes = 8 * mebibyte;
const chunkBytes = 256 * 1024;

const v2 = "/api/v2/pushes";
const v1 = "/p.json";
const page = "/p";
const json = "application/json";
const form = "application/x-www-form-urlencoded";
const boundary = "sealpush-bench-boundary";
const multipart = `multipart/form-data; boundary=${boundary}`;

export function largestBodies(): readonly LargestBody[] {
  return [
    ...jsonBodies(v2, "push", "JSON"),
    ...jsonBodies(v1, "password", "v1 JSON").slice(0, 2),
    ...formBodies(v2, form, "urlencoded"),
    ...formBodies(v2, undefined, "no content type").slice(0, 2),
    ...formBodies(page, form, "page's form"),
    ...multipartBodies(v2, "multipart"),
    ...multipartBodies(page, "page's multipart form").slice(0, 2),
  ];
}

function jsonBodies(path: string, wrapper: string, type: string): LargestBody[] {
  const body = (name: string, status: number, head: string, unit: string, bytes: number, tail: string) =>
    oneBody(`${type}: ${name}`, path, json, status, head, unit, bytes, tail);
  const payload = `{"${wrapper}":{"payload":"`;
  const escapedPair = "\\ud83d\\ude00";
  const file = Buffer.alloc(fileBytes, "sealed").toString("base64");
  const filesTail = `","files":[{"filename":"a","data":"${file}"}]}}`;
  return [
    body("escaped payload and files in base64", 201, payload, escapedPair, payloadCharacters * 12, filesTail),
    body("a payload of emoji", 201, payload, "😀", payloadCharacters * 4, '"}}'),
    body('"" repeated', 400, "", '""', jsonBytes, ""),
    body("one string of escaped quotes", 413, payload, '\\"', jsonBytes - 100, '"}}'),
    body("one string of letters", 413, payload, "a", jsonBytes - 100, '"}}'),
    body("one string of escaped letters", 413, payload, "\\u00e9", jsonBytes - 100, '"}}'),
    body("commas", 400, `{"${wrapper}":[`, "1,", jsonBytes - 100, "1]}"),
    body("opening brackets", 400, "", "[", jsonBytes, ""),
    body("digits", 400, "", "1", jsonBytes, ""),
    body("blanks", 400, "", " ", jsonBytes, ""),
  ];
}

function formBodies(path: string, type: string | undefined, named: string): LargestBody[] {
  const prefix = path === page ? "kind=text&push[payload]=" : "push[payload]=";
  const refused = path === page ? 422 : 422;
  const body = (name: string, status: number, head: string, unit: string, bytes: number) =>
    oneBody(`${named}: ${name}`, path, type, status, head, unit, bytes, "");
  return [
    body("+", 413, prefix, "+", formBytes - 100),
    body("a payload of emoji", path === page ? 303 : 201, prefix, "%F0%9F%98%80", payloadCharacters * 12),
    body("four megabytes of <", refused, prefix, "%3C", 4 * payloadCharacters * 3),
    body("percent-encoded letters", 413, prefix, "%61", formBytes - 100),
    body("letters", 413, prefix, "a", formBytes - 100),
    body("&", 400, "", "&", formBytes),
    body("fields without a value", 400, "", "a&", formBytes),
    body("=", 413, "a=", "=", formBytes - 100),
  ];
}

function multipartBodies(path: string, named: string): LargestBody[] {
  const field = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`;
  const file = `--${boundary}\r\nContent-Disposition: form-data; name="push[files][]"; filename="a"\r\n\r\n`;
  const end = `\r\n--${boundary}--\r\n`;
  const body = (name: string, status: number, head: string, unit: string, bytes: number, tail: string) =>
    oneBody(`${named}: ${name}`, path, multipart, status, head, unit, bytes, tail);
  const created = path === page ? 303 : 201;
  return [
    body("a payload of emoji", created, field("push[payload]"), "😀", payloadCharacters * 4, end),
    body("fields of six megabytes", path === page ? 413 : 413, field("push[payload]"), "<", fieldBytes - 300, end),
    body("a file of line ends", created, file, "\r\n", 32 * mebibyte, end),
    body("a file of almost boundaries", created, file, `\r\n--${boundary.slice(0, -1)}`, 32 * mebibyte, end),
    body("parts without content", 400, "", `${field("a")}\r\n`, 512 * 90, ""),
    {
      ...body("a payload in chunks of one byte", 400, field("push[payload]"), "a", payloadCharacters, end),
      chunks: () => ofOneByte(field("push[payload]"), payloadCharacters, end),
    },
  ];
}

function oneBody(
  name: string,
  path: string,
  type: string | undefined,
  status: number,
  head: string,
  unit: string,
  bytes: number,
  tail: string,
): LargestBody {
  function* chunks(): Generator<Buffer> {
    yield Buffer.from(head);
    const unitBytes = Buffer.byteLength(unit);
    const block = Buffer.from(unit.repeat(Math.floor(chunkBytes / unitBytes)));
    const whole = Math.floor(bytes / unitBytes) * unitBytes;
    for (let left = whole; left > 0; left -= block.length) yield block.subarray(0, Math.min(left, block.length));
    yield Buffer.from(tail);
  }
  return { name, path, type, status, chunks };
}

function* ofOneByte(head: string, bytes: number, tail: string): Generator<Buffer> {
  yield Buffer.from(head);
  for (let at = 0; at < bytes; at += 1) yield Buffer.from("a");
  yield Buffer.from(tail);
}
