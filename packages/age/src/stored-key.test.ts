import { identityToRecipient } from "age-encryption";
import { expect, it } from "vitest";
import { makeLinkKey } from "./link-key.ts";
import { openText } from "./open.ts";
import { sealText } from "./seal.ts";
import { importForUse } from "./stored-key.ts";

it("an imported key is that of the identity, opens what is sealed for it, and cannot be exported", async () => {
  for (let round = 0; round < 20; round += 1) {
    const { identity, recipient } = await makeLinkKey();
    const key = await importForUse(identity);
    expect(await identityToRecipient(key)).toBe(recipient);
    expect(await openText(await sealText("secret", recipient, ""), key, "")).toBe("secret");
    for (const format of ["jwk", "pkcs8"] as const) {
      await expect(crypto.subtle.exportKey(format, key)).rejects.toThrow();
    }
  }
});
