import { describe, expect, test } from "vitest";
import { AppError } from "../base/errors.ts";
import { JsonReader } from "./body/json-reader.ts";
import { readCreatePush } from "./push-fields.ts";

/** As a body in JSON has them. */
function received(fields: unknown): object {
  const reader = new JsonReader();
  reader.write(Buffer.from(JSON.stringify(fields)));
  return Object(reader.end());
}

const read = (fields: unknown) => readCreatePush(received(fields)).request;

function problemsOf(fields: object): unknown {
  try {
    readCreatePush(received(fields));
  } catch (error) {
    if (error instanceof AppError)
      return error.code === "invalid_fields" ? Object.keys(error.fields ?? {}) : error.code;
  }
  return [];
}

test("all fields get their domain names", () => {
  const fields = {
    payload: "secret",
    kind: "qr",
    expire_after_days: 3,
    expire_after_views: "7",
    expire_after_duration: 0,
    deletable_by_viewer: true,
    retrieval_step: false,
    passphrase: "p",
    name: "n",
    note: "o",
    account_id: 5,
    first_view: true,
  };
  expect(read(fields)).toEqual({
    payload: "secret",
    kind: "qr",
    expireAfterDays: 3,
    expireAfterViews: 7,
    expireAfterMs: 900_000,
    deletableByViewer: true,
    retrievalStep: false,
    passphrase: "p",
    name: "n",
    note: "o",
  });
});

test("null counts as not given, an empty passphrase as none, an empty kind and empty files as not given; inherited keys are ignored", () => {
  expect(read({ payload: "a", passphrase: null, kind: null, expire_after_days: null, files: null })).toEqual({
    payload: "a",
  });
  expect(read({ payload: "a", passphrase: "", kind: "", files: "" })).toEqual({ payload: "a" });
  expect(readCreatePush(Object.create({ payload: "inherited" })).request).toEqual({});
  expect(read(JSON.parse('{"__proto__": {"payload": "x"}}'))).toEqual({});
});

describe("booleans", () => {
  test.each([true, "true", "TRUE", "on", "On", "yes", "checked", "1", 1])("%j is true", (value) => {
    expect(read({ retrieval_step: value })).toEqual({ retrievalStep: true });
  });
  test.each([false, "false", "off", "no", "0", 0, "", null, 2, "2", [], {}, " true"])("%j is false", (value) => {
    expect(read({ retrieval_step: value })).toEqual({ retrievalStep: false });
  });
});

describe("integers", () => {
  test.each([
    [5, 5],
    ["5", 5],
    ["007", 7],
    ["-1", -1],
    [0, 0],
    [" 5 ", 5],
    ["+5", 5],
    // Outside every range, which the caller names.
    [1e300, 1e300],
    ["9".repeat(20), 1e20],
  ])("%j is %j", (value, expected) =>
    expect(read({ expire_after_days: value })).toEqual({ expireAfterDays: expected }),
  );
  test.each(["", "  ", null])("%j is not given", (value) => {
    expect(read({ expire_after_days: value, expire_after_duration: value })).toEqual({});
  });
  test("numbers are read as they are written", () => {
    const reader = new JsonReader();
    reader.write(
      Buffer.from('{"expire_after_days":3.0,"expire_after_views":1E1,"payload":1.50,"passphrase":-0,"name":1e3}'),
    );
    expect(readCreatePush(Object(reader.end())).request).toEqual({
      expireAfterDays: 3,
      expireAfterViews: 10,
      payload: "1.50",
      passphrase: "-0",
      name: "1e3",
    });
  });
  test.each([1.5, "1.5", "3.0", "1e1", "5 5", "five", "5.", "0x5", true, [], [5], {}])("%j is refused", (value) =>
    expect(problemsOf({ expire_after_days: value })).toEqual(["expireAfterDays"]),
  );
});

test("durations are codes of an enumeration", () => {
  const days = (code: unknown) => (read({ expire_after_duration: code }).expireAfterMs ?? 0) / 86_400_000;
  expect([0, 1, 2, 3, 4, 5].map((code) => days(code) * 24 * 60)).toEqual([15, 30, 45, 60, 360, 720]);
  expect([6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, "17"].map(days)).toEqual([1, 2, 3, 4, 5, 6, 7, 14, 21, 30, 60, 90]);
  for (const code of [-1, 18, 1.5, "x"])
    expect(problemsOf({ expire_after_duration: code })).toEqual(["expireAfterDuration"]);
});

test("strings must be well-formed", () => {
  expect(problemsOf({ payload: false, passphrase: true, name: [], note: {} })).toEqual([
    "payload",
    "passphrase",
    "name",
    "note",
  ]);
  expect(problemsOf({ payload: "\ud800" })).toEqual(["payload"]);
  expect(problemsOf({ kind: "Text" })).toEqual(["kind"]);
  expect(problemsOf({ kind: 0 })).toEqual(["kind"]);
  expect(read({ payload: "\u0000\r\n😀" })).toEqual({ payload: "\u0000\r\n😀" });
});

test("files inside JSON", () => {
  const data = Buffer.from("hello").toString("base64");
  const { request, files } = readCreatePush({
    files: [
      { filename: "a", content_type: "text/plain", data },
      { filename: "b", data: "" },
    ],
  });
  expect(request).toEqual({ mentionsFiles: true });
  expect(files).toEqual([
    { filename: "a", contentType: "text/plain", bytes: Buffer.from("hello") },
    { filename: "b", contentType: "application/octet-stream", bytes: Buffer.alloc(0) },
  ]);
  expect(readCreatePush({ files: [] })).toEqual({ request: { mentionsFiles: true }, files: [] });
  expect(readCreatePush({ files: [""] })).toEqual({ request: { mentionsFiles: true }, files: [] });
});

test.each(
  [
    "text",
    {},
    ["text"],
    [null],
    [[]],
    [{}],
    [{ filename: "a" }],
    [{ data: "" }],
    [{ filename: "a", data: "aGVsbG8" }],
    [{ filename: "a", data: "aGVs bG8=" }],
    [{ filename: "a", data: "_-==" }],
    [{ filename: "a", data: "aGVsbG8=aGVs" }],
    [{ filename: "a", data: `${"A".repeat(16_382)}==AAAA` }],
    [{ filename: "\ud800", data: "" }],
  ].map((files) => [files]),
)("files %j are refused", (files) => {
  expect(problemsOf({ files })).toEqual(["files"]);
});

test("sizes", () => {
  const mebibyte = 1024 * 1024;
  expect(problemsOf({ payload: "😀".repeat(mebibyte) })).toEqual([]);
  expect(problemsOf({ payload: `${"😀".repeat(mebibyte)}a` })).toBe("too_large");
  expect(problemsOf({ payload: "a".repeat(4 * mebibyte) })).toEqual([]);
  const data = Buffer.alloc(8 * mebibyte).toString("base64");
  expect(problemsOf({ files: [{ filename: "a", data }] })).toEqual([]);
  expect(
    problemsOf({
      files: [
        { filename: "a", data },
        { filename: "b", data: "AAAA" },
      ],
    }),
  ).toBe("too_large");
});
