import { commonPasswords, commonShortPasswords } from "@sealpush/age/common-passwords";
import { describe, expect, it } from "vitest";
import { passwordProblem } from "./password-rules.ts";

const email = "ada.lovelace@example.com";

describe("passwordProblem", () => {
  it.each([
    "correct horse battery",
    "a long enough password",
    "staple-horse-91-Kettle",
    "Größe-пароль-2026",
    "dragon 4815162342 9981",
    "正しい馬のバッテリーとホチキスの針",
    "🔑🐎🔋📎🌧️🪑🧭🎷🪁🧊🥕🪗",
    "            .   ,  ; a",
  ])("takes %j", (password) => {
    expect(passwordProblem(password, email)).toBeUndefined();
  });

  it.each([
    ["password_length", ["", "elevenchars", "x".repeat(1_025), `twelve chars\ud800`]],
    [
      "password_common",
      ["administrator", "ADMINISTRATOR", "password1234", "Password2024!", "p@ssw0rd1234", "123qweasdzxc"],
    ],
    ["password_common", ["!!dragon!!12", "iloveyou2024!", "passwordpassword"]],
    ["password_repeated", ["aaaaaaaaaaaa", "xqxqxqxqxqxqx", "Xq7#Xq7#Xq7#", "🔑".repeat(12), " ".repeat(12)]],
    [
      "password_sequence",
      ["abcdefghijkl", "ZYXWVUTSRQPO", "qwertyuiopasdf", "lkjhgfdsapoi", "098765432109", "567890123456"],
    ],
    ["password_email", [email, email.toUpperCase(), "ada.lovelace", "Ada.Lovelace1815", "ada.lovelaceada.lovelace"]],
  ])("returns %s for passwords that attackers guess first", (problem, passwords) => {
    for (const password of passwords) expect([password, passwordProblem(password, email)]).toEqual([password, problem]);
  });

  it("refuses all passwords of its list", () => {
    for (const password of commonPasswords)
      expect([password, passwordProblem(password, email)]).not.toContain(undefined);
  });

  it("is fast for any input", () => {
    for (const part of ["1", "a1", "@", "password", "é"]) {
      const password = part.repeat(1_024).slice(0, 1_024);
      expect(passwordProblem(password, "a@example.com")).toBeDefined();
    }
  });
});

it("the lists are in the form that passwords are compared in", () => {
  expect(commonPasswords.size).toBeGreaterThan(250);
  expect(commonShortPasswords.size).toBeGreaterThan(900);
  for (const password of commonPasswords) {
    expect(password).toBe(password.normalize("NFC").toLowerCase());
    expect(password.length).toBeGreaterThanOrEqual(12);
  }
});
