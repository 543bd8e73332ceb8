import { expect, test } from "vitest";
import { isWeakPassphrase } from "./guessable.ts";

test.each([
  ["elevenchars", "11 characters"],
  ["🔑".repeat(11), "11 characters, each of two code units"],
  ["Password2024!", "a common password with a few characters"],
  ["123qweasdzxc", "a common password of 12 characters"],
  ["Xq7#Xq7#Xq7#", "a repetition"],
  ["lkjhgfdsapoi", "a sequence of keys"],
])("%j can be guessed: %s", (passphrase) => {
  expect(isWeakPassphrase(passphrase)).toBe(true);
});

test.each(["correct horse", "twelve  char", "正しい馬のバッテリーとホチ"])("%j is accepted", (passphrase) => {
  expect(isWeakPassphrase(passphrase)).toBe(false);
});
