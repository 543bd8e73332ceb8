import { type BodyType, bodyTypes } from "../../src/http/body/receive-body.ts";
import type { SeededRows } from "./body-targets.ts";
import { type InventoryRow, inventoryRows } from "./route-inventory.ts";
import { connectionClosed, type LargestBody } from "./send-body.ts";

/** @param status of the answer; `connectionClosed` if there was none. */
export function isExpected({ expected }: LargestBody, status: number): boolean {
  if (status >= 500) return false;
  if (status === connectionClosed) return typeof expected !== "number" || expected >= 400;
  if (expected === "read") return ![401, 403, 404, 405].includes(status);
  return expected === "any" || status === expected;
}

const mebibyte = 1024 ** 2;
const jsonBytes = 26 * mebibyte;
const formBytes = 14 * mebibyte;
const fieldBytes = 6 * mebibyte;
/** A route that takes neither pushes nor files reads this much. */
const smallBytes = 512 * 1024;
const payloadCharacters = mebibyte;
/** As long as the longest armor, less what surrounds it. */
const sealedCharacters = 5_768_000;
const fileBytes = 8 * mebibyte;
const chunkBytes = 256 * 1024;

const boundary = "sealpush-largest-boundary";
const json = "application/json";
const form = "application/x-www-form-urlencoded";
const multipart = `multipart/form-data; boundary=${boundary}`;

/** A text of one repeated unit. */
interface Text {
  readonly head: string;
  readonly unit: string;
  readonly times: number;
  readonly tail: string;
}

/**
 * Every route that can read a body, with every content type and the texts that are expensive for what happens after parsing;
 * and for every content type the bytes that are expensive to parse.
 */
export function largestBodies(rows: SeededRows): readonly LargestBody[] {
  const bodies = inventoryRows.filter(mayReadBody).flatMap((row) => bodiesFor(row, rows));
  const isLarge = ({ expected }: LargestBody) => expected === "read";
  // First what does not end the push, the session or the account that the others need.
  return [...parsedBodies(rows), ...bodies.filter(isLarge), ...bodies.filter((body) => !isLarge(body))];
}

function mayReadBody({ method, access, flags }: InventoryRow): boolean {
  if (method === "GET") return access === "api" && flags.includes("retrieval");
  return !["HEAD", "OPTIONS"].includes(method);
}

function bodiesFor(row: InventoryRow, rows: SeededRows): LargestBody[] {
  const isLarge = row.flags.includes("scope:create") || row.flags.includes("streams");
  const fields = isLarge ? longFields.filter(({ isRead }) => isRead(row)) : [smallField];
  const target = targetOf(row, rows);
  const bodies = bodyTypes.flatMap((type) =>
    fields.flatMap((field) => {
      const texts = isLarge ? longTexts(field, row) : [lessThanSigns(smallBytes / 8)];
      return texts.map((text) => ({
        ...withBody(target, encoded(type, field, rows, text)),
        name: `${row.method} ${row.pattern}: ${type}, ${field.wrapper} ${field.name} of ${JSON.stringify(text.unit)}`,
        expected: isLarge ? ("read" as const) : ("any" as const),
      }));
    }),
  );
  const part = withBody(target, partOfFile);
  return [...bodies, { ...part, name: `${row.method} ${row.pattern}: ${partOfFile.type}`, expected: "any" }];
}

/** A route reads its own fields and refuses the body otherwise, after it was parsed. */
interface LongField {
  readonly wrapper: string;
  readonly name: string;
  isRead(row: InventoryRow): boolean;
}

const isV1 = ({ pattern }: InventoryRow) => /^\/[pfr]\.json$/.test(pattern);
const longFields: readonly LongField[] = [
  { wrapper: "password", name: "payload", isRead: isV1 },
  { wrapper: "push", name: "payload", isRead: (row) => !isV1(row) },
  { wrapper: "", name: "payload", isRead: (row) => !isV1(row) },
  { wrapper: "request", name: "identity_sealed", isRead: (row) => !isV1(row) },
  { wrapper: "", name: "identity_sealed", isRead: (row) => !isV1(row) },
];
const smallField: LongField = { wrapper: "", name: "payload", isRead: () => true };

function longTexts({ name }: LongField, { access }: InventoryRow): Text[] {
  const armor: Text = {
    head: "-----BEGIN AGE ENCRYPTED FILE-----\n",
    unit: "\n",
    times: sealedCharacters,
    tail: "\n-----END AGE ENCRYPTED FILE-----\n",
  };
  if (name !== "payload") return [armor];
  const emoji: Text = { head: "", unit: "😀", times: payloadCharacters, tail: "" };
  // A page sends the form back with what was typed.
  return access.startsWith("page") ? [armor, emoji, lessThanSigns(4 * payloadCharacters)] : [armor, emoji];
}

function lessThanSigns(times: number): Text {
  return { head: "", unit: "<", times, tail: "" };
}

function targetOf({ method, pattern, access }: InventoryRow, rows: SeededRows) {
  const token = pattern.includes("/requests/") ? rows.requestToken : rows.pushToken;
  const path = pattern
    .replace(/:(?:url_)?token/, token)
    .replace(":upload", rows.upload)
    .replace(/:\w+/, "1");
  const credentials: Record<string, string> = access.startsWith("api")
    ? { authorization: `Bearer ${rows.apiToken}` }
    : { cookie: rows.cookie, "sec-fetch-site": "same-origin" };
  const isOpen = ["public", "api", "page", "page_creator"].includes(access);
  return { method, path, headers: credentials, isOpen };
}

/** The encoding of a name and a text for each content type: a new one does not compile without its own. */
const encodings: Readonly<Record<BodyType, (field: LongField, others: readonly Pair[], text: Text) => Encoded>> = {
  "application/json": ({ wrapper, name }, others, text) => {
    const inner = others.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)},`).join("");
    const escaped = (part: string) => JSON.stringify(part).slice(1, -1);
    const open = wrapper === "" ? "{" : `{"${wrapper}":{`;
    return {
      type: json,
      head: `${open}${inner}"${name}":"${escaped(text.head)}`,
      unit: escaped(text.unit),
      times: text.times,
      tail: `${escaped(text.tail)}"${wrapper === "" ? "}" : "}}"}`,
    };
  },
  "application/x-www-form-urlencoded": (field, others, text) => {
    const unit = encodeURIComponent(text.unit);
    const pairs = others.map(([key, value]) => `${nameIn(field.wrapper, key)}=${encodeURIComponent(value)}&`).join("");
    return {
      type: form,
      head: `${pairs}${nameIn(field.wrapper, field.name)}=${encodeURIComponent(text.head)}`,
      unit,
      times: Math.min(text.times, Math.floor((formBytes - 4 * 1024) / unit.length)),
      tail: encodeURIComponent(text.tail),
    };
  },
  "multipart/form-data": (field, others, text) => {
    const parts = others.map(([key, value]) => `${partHead(nameIn(field.wrapper, key))}${value}\r\n`).join("");
    return {
      type: multipart,
      head: `${parts}${partHead(nameIn(field.wrapper, field.name))}${text.head}`,
      unit: text.unit,
      times: text.times,
      tail: `${text.tail}\r\n--${boundary}--\r\n`,
    };
  },
};

type Pair = readonly [string, string];

const sealedPairs: readonly Pair[] = [
  ["encryption", "age"],
  ["encryption_check", "0".repeat(32)],
];

interface Encoded extends Text {
  readonly type: string | undefined;
}

/** The other fields make the request complete, so that the server goes on after it has parsed the body. */
function encoded(type: BodyType, field: LongField, rows: SeededRows, text: Text): Encoded {
  const others: Pair[] = [
    ["kind", "text"],
    ["title", "a title"],
    ["recipient", rows.recipient],
    ...(text.unit === "\n" ? sealedPairs : []),
  ];
  return encodings[type](field, others, text);
}

/** What the routes for resumable uploads read; the others refuse it. */
const partOfFile: Encoded = {
  type: "application/offset+octet-stream",
  head: "",
  unit: "\r\n",
  times: 4 * mebibyte,
  tail: "",
};
const uploadHeaders = { "tus-resumable": "1.0.0", "upload-offset": "0" };

function withBody({ headers, ...target }: ReturnType<typeof targetOf>, body: Encoded) {
  const type: Record<string, string> = body.type === undefined ? {} : { "content-type": body.type };
  return { ...target, headers: { ...headers, ...uploadHeaders, ...type }, chunks: () => repeated(body) };
}

const nameIn = (wrapper: string, name: string) => (wrapper === "" ? name : `${wrapper}[${name}]`);
const partHead = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`;

function* repeated({ head, unit, times, tail }: Text): Generator<Buffer> {
  yield Buffer.from(head);
  const perBlock = Math.ceil(chunkBytes / Buffer.byteLength(unit));
  const block = Buffer.from(unit.repeat(perBlock));
  for (let left = times; left > 0; left -= perBlock) {
    yield left >= perBlock ? block : block.subarray(0, left * Buffer.byteLength(unit));
  }
  yield Buffer.from(tail);
}

/** Bytes that are expensive to parse. The parsers are the same for all routes. */
function parsedBodies(rows: SeededRows): LargestBody[] {
  const create = { method: "POST", pattern: "/api/v2/pushes", access: "api", flags: [] };
  const page = { method: "POST", pattern: "/p", access: "page_creator", flags: [] };
  return [create, page].flatMap((row) => {
    const forms = [...formShapes, ...multipartShapes];
    return (row === page ? forms : [...jsonShapes, ...forms]).map(({ name, status, chunks, ...body }) => ({
      ...withBody(targetOf(row, rows), body),
      ...(chunks && { chunks }),
      name: `${row.method} ${row.pattern}: ${name}`,
      expected: row === page && status === 201 ? 303 : status,
    }));
  });
}

interface Shape extends Encoded {
  readonly name: string;
  /** The status that API v2 answers; a page answers 303 instead of 201. */
  readonly status: number;
  readonly chunks?: () => Iterable<Buffer>;
}

/** Name, status, head, unit, bytes of all units together, tail. */
type ShapeRow = readonly [string, number, string, string, number, string];

function shapes(type: string | undefined, rows: readonly ShapeRow[]): readonly Shape[] {
  return rows.map(([name, status, head, unit, bytes, tail]) => {
    const times = Math.floor(bytes / Buffer.byteLength(unit));
    return { type, name: `${type ?? "no content type"}, ${name}`, status, head, unit, times, tail };
  });
}

const payloadKey = '{"push":{"payload":"';
const fileInJson = Buffer.alloc(fileBytes, "sealed").toString("base64");
const jsonShapes = shapes(json, [
  [
    "escaped payload and files in base64",
    201,
    payloadKey,
    "\\ud83d\\ude00",
    payloadCharacters * 12,
    `","files":[{"filename":"a","data":"${fileInJson}"}]}}`,
  ],
  ['"" repeated', 400, "", '""', jsonBytes, ""],
  ["one string of escaped quotes", 413, payloadKey, '\\"', jsonBytes - 100, '"}}'],
  ["one string of letters", 413, payloadKey, "a", jsonBytes - 100, '"}}'],
  ["one string of escaped letters", 413, payloadKey, "\\u00e9", jsonBytes - 100, '"}}'],
  ["commas", 400, '{"push":[', "1,", jsonBytes - 100, "1]}"],
  ["opening brackets", 400, "", "[", jsonBytes, ""],
  ["digits", 400, "", "1", jsonBytes, ""],
  ["blanks", 400, "", " ", jsonBytes, ""],
]);

const payloadPair = "kind=text&push[payload]=";
const formShapes = [form, undefined].flatMap((type) =>
  shapes(type, [
    ["+", 413, payloadPair, "+", formBytes - 100, ""],
    ["percent-encoded letters", 413, payloadPair, "%61", formBytes - 100, ""],
    ["letters", 413, payloadPair, "a", formBytes - 100, ""],
    ["&", 400, "", "&", formBytes, ""],
    ["fields without a value", 400, "", "a&", formBytes, ""],
    ["=", 413, "a=", "=", formBytes - 100, ""],
  ]),
);

const payloadPart = partHead("push[payload]");
const filePart = `${partHead("push[payload]")}a\r\n--${boundary}\r\nContent-Disposition: form-data; name="push[files][]"; filename="a"\r\n\r\n`;
const encodedPart = (encoding: string) => filePart.replace(/\r\n$/, `Content-Transfer-Encoding: ${encoding}\r\n\r\n`);
const lastPart = `\r\n--${boundary}--\r\n`;
const multipartShapes: readonly Shape[] = [
  ...shapes(multipart, [
    ["fields of six megabytes", 413, payloadPart, "<", fieldBytes - 300, lastPart],
    ["a file of line ends", 201, filePart, "\r\n", 32 * mebibyte, lastPart],
    ["a file of almost boundaries", 201, filePart, `\r\n--${boundary.slice(0, -1)}`, 32 * mebibyte, lastPart],
    ["a file in base64", 201, encodedPart("base64"), `${"QUFB".repeat(19)}\r\n`, 32 * mebibyte, lastPart],
    [
      "a file in quoted-printable",
      201,
      encodedPart("quoted-printable"),
      `${"=41".repeat(25)}=\r\n`,
      32 * mebibyte,
      lastPart,
    ],
    ["blanks in quoted-printable", 400, encodedPart("quoted-printable"), " ", 32 * mebibyte, lastPart],
    ["parts without content", 400, "", `${partHead("a")}\r\n`, 512 * 90, ""],
  ]),
  ...shapes(multipart, [["a payload in chunks of one byte", 400, payloadPart, "a", payloadCharacters, lastPart]]).map(
    (shape) => ({ ...shape, chunks: () => inSingleBytes(shape) }),
  ),
];

function* inSingleBytes({ head, unit, times, tail }: Text): Generator<Buffer> {
  yield Buffer.from(head);
  for (let at = 0; at < times; at += 1) yield Buffer.from(unit);
  yield Buffer.from(tail);
}
