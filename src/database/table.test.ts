import { expect, expectTypeOf, test } from "vitest";
import { openEngineDatabase } from "../../test/support/engine-database.ts";
import { type RotatedColumn, underMasterKey, underPushKey } from "../crypto/sealed-column.ts";
import type { DriverRow } from "./statement.ts";
import {
  type BooleanKeyOf,
  boolean,
  bound,
  bytes,
  converted,
  harmless,
  integer,
  type NewRowOf,
  nullable,
  oneOf,
  type RowOf,
  type StoredRowOf,
  sealed,
  Table,
  type TableColumns,
  text,
  withDefault,
} from "./table.ts";

const colours = { red: 0, green: 5 } as const;
const words = converted<readonly string[], string>({
  decode: (stored) => stored.split(" "),
  encode: (value) => value.join(" "),
});
// A table of every database, with columns of each engine's own types.
const reason = "a test changes it";
const things = new Table("blob_deletions", {
  blobKey: harmless(text, reason),
  dueAt: harmless(integer, reason),
  attempts: harmless(withDefault(integer, 3), reason),
});
const described = new Table("described", {
  id: harmless(integer, reason),
  colour: harmless(oneOf(colours), reason),
  lastColour: harmless(withDefault(nullable(oneOf(colours)), null), reason),
  isSealed: harmless(boolean, reason),
  wasSealed: harmless(nullable(boolean), reason),
  digest: harmless(nullable(bytes), reason),
  scopes: harmless(words, reason),
});
type Described = RowOf<typeof described>;
const row: Described = {
  id: 7,
  colour: "green",
  lastColour: null,
  isSealed: true,
  wasSealed: false,
  digest: null,
  scopes: ["a", "b"],
};
const stored: StoredRowOf<typeof described> = {
  id: 7,
  colour: 5,
  lastColour: null,
  isSealed: 1,
  wasSealed: 0,
  digest: null,
  scopes: "a b",
};

test("a column that does not say how it is protected is no column of a table", () => {
  expectTypeOf<{ id: typeof integer }>().not.toExtend<TableColumns>();
  expectTypeOf<Pick<typeof described extends Table<infer C> ? C : never, "id">>().toExtend<TableColumns>();
});

test("a table names what its values are sealed with", () => {
  const seal = underMasterKey("labels", { id: "id", owner: "NULL" });
  const table = new Table("notes", {
    id: bound(integer, "the text is sealed for it"),
    textSealed: sealed(bytes, { text: seal, draft: underPushKey }),
  });
  expect(table.seals.text).toMatchObject({ table: "notes", column: "text_sealed", seal });
  expectTypeOf(table.seals.text).toEqualTypeOf<RotatedColumn>();
  expect(table.seals.draft).toMatchObject({ table: "notes", column: "text_sealed", seal: underPushKey });
  expectTypeOf(table.seals.draft).not.toExtend<RotatedColumn>();
  expect(table.protections.map(([column, { how }]) => [column, how])).toEqual([
    ["id", "bound"],
    ["text_sealed", "sealed"],
  ]);
  expect(described.seals).toEqual({});
});

test("columns are selected under their domain names", () => {
  expect(described.selectList).toBe(
    "id, colour, last_colour AS lastColour, is_sealed AS isSealed, was_sealed AS wasSealed, digest, scopes",
  );
  expect(described.pick("isSealed", "id").selectList).toBe("is_sealed AS isSealed, id");
  expect(described.omit("lastColour", "scopes").columnNames).toEqual([
    "id",
    "colour",
    "is_sealed",
    "was_sealed",
    "digest",
  ]);
});

test("a row is decoded into the domain's values, and encoded back in the order of the columns", () => {
  expect(described.decode(stored)).toEqual(row);
  expect(described.values(row)).toEqual([7, 5, null, 1, 0, null, "a b"]);
  expect(described.insertText(2)).toBe(
    "INSERT INTO described (id, colour, last_colour, is_sealed, was_sealed, digest, scopes) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?)",
  );
});

test("other columns of the statement are returned unchanged", () => {
  const decoded = described.pick("isSealed").decode({ isSealed: 0, found: 4 });
  expect(decoded).toEqual({ isSealed: false, found: 4 });
  expectTypeOf(decoded.isSealed).toEqualTypeOf<boolean>();
  expectTypeOf(decoded.found).toEqualTypeOf<number>();
});

test("a new row may omit columns that have a default", () => {
  const { lastColour: _, ...given } = row;
  expect(described.values(given)).toEqual([7, 5, null, 1, 0, null, "a b"]);
  expect(described.values({ ...given, lastColour: "red" })[2]).toBe(0);
});

test("insertFrom lists the expressions in the order of the columns", () => {
  const text = things.insertFrom("ended", { attempts: "0", dueAt: "?", blobKey: "blob_key" });
  expect(text).toBe("INSERT INTO blob_deletions (blob_key, due_at, attempts) SELECT blob_key, ?, 0 FROM ended");
});

test("an unknown name is not written", () => {
  const blue: string = "blue";
  expect(() => described.values({ ...row, colour: blue as "red" })).toThrow('There is no number for "blue".');
  expect(() => described.column("colour").encode("toString" as "red")).toThrow("There is no number");
});

test("the boolean columns are known, with and without a default", () => {
  const flags = new Table("flags", {
    id: harmless(integer, reason),
    isOn: harmless(boolean, reason),
    isLate: harmless(withDefault(boolean, false), reason),
  });
  expect(flags.booleanKeys).toEqual(["isOn", "isLate"]);
  expectTypeOf(flags.booleanKeys).toEqualTypeOf<readonly ("isOn" | "isLate")[]>();
});

test("an unknown number is not read", () => {
  expect(() => described.decode({ ...stored, colour: 1 })).toThrow("unknown number 1");
  expect(() => described.decode({ ...stored, colour: -1 })).toThrow("unknown number -1");
  expect(() => described.decode({ ...stored, isSealed: 2 })).toThrow("A boolean column holds 2.");
});

test("a column that was not selected, or is missing in a new row, is an error", () => {
  const { isSealed: _, ...incomplete } = stored;
  expect(() => described.decode(incomplete as typeof stored)).toThrow("A boolean column holds undefined.");
  const { digest: __, ...withoutDigest } = row;
  expect(() => described.values(withoutDigest as typeof row)).toThrow("The new row of described lacks digest.");
});

test("two names with one number are refused", () => {
  expect(() => oneOf({ a: 1, b: 1 })).toThrow("Two names have the same number.");
});

test("a row is read back as it was written", async () => {
  const db = openEngineDatabase();
  await db
    .autocommit({ retry: "whenNotExecuted" })
    .run(things.insert("", 2), ...things.values({ blobKey: "a", dueAt: 1 }), "b", 2, 9);
  const found = await db.read.all(things.select<[dueAt: number]>("WHERE due_at >= ? ORDER BY blob_key"), 1);
  expect(found.map((thing) => things.decode(thing))).toEqual([
    { blobKey: "a", dueAt: 1, attempts: 3 },
    { blobKey: "b", dueAt: 2, attempts: 9 },
  ]);
});

test("types: a driver's row is not a domain row", () => {
  expectTypeOf<Described>().toEqualTypeOf<{
    readonly id: number;
    readonly colour: "red" | "green";
    readonly lastColour: "red" | "green" | null;
    readonly isSealed: boolean;
    readonly wasSealed: boolean | null;
    readonly digest: Buffer | null;
    readonly scopes: readonly string[];
  }>();
  expectTypeOf<StoredRowOf<typeof described>>().toEqualTypeOf<{
    readonly id: number;
    readonly colour: number;
    readonly lastColour: number | null;
    readonly isSealed: number;
    readonly wasSealed: number | null;
    readonly digest: Buffer | null;
    readonly scopes: string;
  }>();
  expectTypeOf<StoredRowOf<typeof described>>().not.toExtend<Described>();
  expectTypeOf<BooleanKeyOf<typeof described>>().toEqualTypeOf<"isSealed">();
  // `sql` accepts rows that extend their DriverRow, so a boolean in a row does not compile.
  type WithBoolean = { readonly isSealed: boolean };
  expectTypeOf<WithBoolean>().not.toExtend<DriverRow<WithBoolean>>();
  expectTypeOf<StoredRowOf<typeof described>>().toExtend<DriverRow<StoredRowOf<typeof described>>>();
});

test("types: a column cannot be forgotten", () => {
  type New = NewRowOf<typeof described>;
  expectTypeOf<Omit<Described, "lastColour">>().toExtend<New>();
  expectTypeOf<Omit<Described, "isSealed">>().not.toExtend<New>();
  expectTypeOf<Omit<Described, "digest">>().not.toExtend<New>();
  type Selected = Parameters<typeof described.decode>[0];
  expectTypeOf<Omit<StoredRowOf<typeof described>, "isSealed">>().not.toExtend<Selected>();
  type Expressions = Parameters<typeof things.insertFrom>[1];
  expectTypeOf<{ blobKey: string; dueAt: string }>().not.toExtend<Expressions>();
  type Numbers = Parameters<typeof oneOf<"red" | "green">>[0];
  expectTypeOf<{ red: number }>().not.toExtend<Numbers>();
});
