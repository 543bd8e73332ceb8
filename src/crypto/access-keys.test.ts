import { expect, test } from "vitest";
import { AccessKeys } from "./access-keys.ts";

const reported: string[] = [];
const report = (table: string) => void reported.push(table);
const keys = new AccessKeys(Buffer.alloc(32, 1), report);
const others = new AccessKeys(Buffer.alloc(32, 2), report);

// Computed with hashlib.blake2b of Python.
test("known answers", () => {
  expect(keys.digest("session", "token").toString("hex")).toBe(
    "a26ce5ada5694f348fbacc6cf16491b9c528c73714061a0b51ab1ffe59a85379",
  );
  expect(keys.mac("users", [7, "ada@example.com", null]).toString("hex")).toBe("8f9b4fe5bd8541ee2e9458a12da5424c");
});

test("digests and MACs depend on the secret, the purpose or table, and each part", () => {
  const digests = [
    keys.digest("session", "token"),
    others.digest("session", "token"),
    keys.digest("api_token", "token"),
    keys.digest("session", "tokem"),
    keys.digest("backup_code", 7, "token"),
    keys.digest("backup_code", 8, "token"),
    keys.digest("session"),
    keys.mac("session", ["token"]),
    keys.mac("users", [1, "a", null]),
    others.mac("users", [1, "a", null]),
    keys.mac("sessions", [1, "a", null]),
    keys.mac("users", [2, "a", null]),
    keys.mac("users", [1, "b", null]),
    keys.mac("users", [1, "a", 0]),
    keys.mac("users", [1, "a", ""]),
    keys.mac("users", [1, "a"]),
    keys.mac("users", ["a", 1, null]),
  ];
  expect(new Set(digests.map((digest) => digest.toString("hex"))).size).toBe(digests.length);
});

test("a MAC is verified as a whole, and a wrong one is reported", () => {
  reported.length = 0;
  const mac = keys.mac("users", [1, "a"]);
  expect(keys.verifies(mac, "users", [1, "a"])).toBe(true);
  expect(reported).toEqual([]);
  expect(keys.verifies(mac, "users", [1, "b"])).toBe(false);
  for (const wrong of [Buffer.alloc(0), mac.subarray(1), Buffer.concat([mac, Buffer.of(0)]), Buffer.alloc(16)]) {
    expect(keys.verifies(wrong, "users", [1, "a"])).toBe(false);
  }
  expect(keys.verifies(null, "users", [1, "a"])).toBe(false);
  expect(reported).toEqual(Array(6).fill("users"));
});

test("a secret has 32 bytes", () => {
  expect(() => new AccessKeys(Buffer.alloc(31), report)).toThrow(RangeError);
});
