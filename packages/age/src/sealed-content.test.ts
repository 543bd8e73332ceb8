import { describe, expect, test } from "vitest";
import { deliveryProblems } from "./delivery.ts";
import type { PushField } from "./fields.ts";
import { sealedSize } from "./seal.ts";
import {
  readContent,
  readLabel,
  type SealedFileDetails,
  UnexpectedContentError,
  writeAnswer,
  writeLabel,
  writePayload,
} from "./sealed-content.ts";

const identity = `AGE-SECRET-KEY-1${"Q".repeat(58)}`;
const file: SealedFileDetails = { stored: "1.age", name: "ä.txt", type: "text/plain", size: 3, identity };
const request = "abc123";

describe("a payload", () => {
  test.each(["", "x", '{"text":"a"}', '{ "sealpush":1}', ' {"sealpush":1}', "\ufeffx\r\n"])(
    "of a text alone is that text: %j",
    (text) => {
      expect(writePayload({ text, files: [] })).toBe(text);
      expect(readContent(text, null)).toEqual({ text, files: null });
    },
  );

  test("with files names each, in the form of the documentation", () => {
    const written = writePayload({ text: "a", files: [file] });
    expect(written).toBe(
      `{"sealpush":1,"is":"payload","text":"a","files":[{"stored":"1.age","name":"ä.txt","type":"text/plain","size":3,"identity":"${identity}"}]}`,
    );
    expect(readContent(written, null)).toEqual({ text: "a", files: [file] });
  });

  test("whose text looks like an object of this format is wrapped", () => {
    for (const text of ['{"sealpush":', writeLabel("note", "x"), writePayload({ text: "a", files: [file] })]) {
      const written = writePayload({ text, files: [] });
      expect(written).not.toBe(text);
      expect(readContent(written, null)).toEqual({ text, files: [] });
    }
  });

  test("with fields instead of a text has them, and is read as lines", () => {
    const fields = [
      { label: "User", value: "ada" },
      { label: "Key", value: "a\nb", type: "secret" as const },
    ];
    const read = [{ label: "User", value: "ada", type: "text" as const }, fields[1] as PushField];
    const written = JSON.stringify({ sealpush: 1, is: "payload", fields });
    expect(readContent(written, null)).toEqual({ text: "User: ada\nKey:\na\nb", fields: read, files: [] });
    const again = writePayload({ text: "", fields: read, files: [file] });
    expect(readContent(again, null)).toMatchObject({ fields: read, files: [file] });
  });
});

test("an answer names its request, a name and a note say what they are", () => {
  expect(writeAnswer(request, { text: "a", files: [] })).toBe(
    '{"sealpush":1,"is":"answer","request":"abc123","text":"a","files":[]}',
  );
  expect(readContent(writeAnswer(request, { text: "a", files: [file] }), request)).toEqual({
    text: "a",
    files: [file],
  });
  expect(writeLabel("name", "a")).toBe('{"sealpush":1,"is":"name","text":"a"}');
  for (const is of ["name", "note"] as const) expect(readLabel(writeLabel(is, "a\nb"), is)).toBe("a\nb");
});

describe("what a reader does not want is refused:", () => {
  const payload = { sealpush: 1, is: "payload", text: "a" };
  const refused: readonly { readonly what: string; readonly content: unknown; readonly request?: string }[] = [
    { what: "a note as a payload", content: { ...payload, is: "note" } },
    { what: "an answer as a payload", content: { ...payload, is: "answer", request } },
    { what: "a payload as an answer", content: payload, request },
    { what: "a bare text as an answer", content: "a", request },
    { what: "the answer to another request", content: { ...payload, is: "answer", request: "other" }, request },
    { what: "an answer without a request", content: { ...payload, is: "answer" }, request },
    {
      what: "fields in an answer",
      content: { sealpush: 1, is: "answer", request, fields: [{ label: "a", value: "b" }] },
      request,
    },
    { what: "another number", content: { ...payload, sealpush: 2 } },
    { what: "a number as text", content: { ...payload, sealpush: "1" } },
    { what: "an unknown key", content: { ...payload, extra: 1 } },
    { what: "no text", content: { sealpush: 1, is: "payload" } },
    { what: "text and fields", content: { ...payload, fields: [{ label: "a", value: "b" }] } },
    {
      what: "a label twice",
      content: { sealpush: 1, is: "payload", fields: ["a", "A"].map((label) => ({ label, value: "b" })) },
    },
    { what: "no field", content: { sealpush: 1, is: "payload", fields: [] } },
    {
      what: "an unknown key of a field",
      content: { sealpush: 1, is: "payload", fields: [{ label: "a", value: "b", more: 1 }] },
    },
    {
      what: "an unknown type of a field",
      content: { sealpush: 1, is: "payload", fields: [{ label: "a", value: "b", type: "x" }] },
    },
    { what: "a text that is none", content: { ...payload, text: 1 } },
    { what: "files that are no list", content: { ...payload, files: {} } },
    { what: "two files of one name", content: { ...payload, files: [file, { ...file, name: "b" }] } },
    { what: "a file with an unknown key", content: { ...payload, files: [{ ...file, extra: 1 }] } },
    { what: "a file without an identity", content: { ...payload, files: [{ ...file, identity: undefined }] } },
    {
      what: "a file with a damaged identity",
      content: { ...payload, files: [{ ...file, identity: identity.slice(1) }] },
    },
    { what: "a file without a type", content: { ...payload, files: [{ ...file, type: undefined }] } },
    { what: "a file of half a byte", content: { ...payload, files: [{ ...file, size: 0.5 }] } },
    { what: "a file of less than nothing", content: { ...payload, files: [{ ...file, size: -1 }] } },
    { what: "a file that is none", content: { ...payload, files: [null] } },
    { what: "what only begins like an object", content: '{"sealpush":1' },
    { what: "a second object behind the first", content: `${JSON.stringify(payload)}{}` },
  ];
  test.each(refused)("$what", ({ content, request: wanted = null }) => {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    expect(() => readContent(text, wanted)).toThrow(UnexpectedContentError);
  });

  test("labels of another kind, and a bare text as one", () => {
    for (const label of [writeLabel("note", "a"), "a", writePayload({ text: "a", files: [file] })]) {
      expect(() => readLabel(label, "name")).toThrow(UnexpectedContentError);
    }
  });
});

describe("the delivered files", () => {
  const list = [file, { ...file, stored: "2.age", name: "b" }];
  const whole = { stored: "1.age", bytes: sealedSize(3) };

  test("are the sealed ones, in any order", () => {
    expect(deliveryProblems(list, [{ stored: "2.age" }, whole])).toEqual([]);
    expect(deliveryProblems([], [])).toEqual([]);
  });

  test("that are missing, added or cut are named", () => {
    expect(deliveryProblems(list, [{ ...whole, bytes: sealedSize(3) - 1 }, { stored: "3.age" }])).toEqual([
      { problem: "short", name: "ä.txt" },
      { problem: "missing", name: "b" },
      { problem: "added", name: "3.age" },
    ]);
    expect(deliveryProblems([file], [whole, whole])).toEqual([{ problem: "added", name: "1.age" }]);
  });
});
