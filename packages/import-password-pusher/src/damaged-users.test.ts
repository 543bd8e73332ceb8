import { describe, expect, it } from "vitest";
import { collect, readAfter } from "../../../test/support/password-pusher/open-source.ts";

it("imports no administrator from a damaged flag, with a warning", async () => {
  const source = await readAfter((db) => db.prepare("UPDATE users SET admin = 'x' WHERE id = 1").run());

  expect((await collect(source.users(0)))[0]).toMatchObject({ outcome: "read", row: { admin: false } });
  expect(source.warnings).toEqual([
    "1 user is imported without administrator rights, because the column admin cannot be read (1).",
    expect.stringContaining("1 user has backup codes, which are not imported"),
  ]);
});

describe("a user whose second factor cannot be read", () => {
  it("cannot sign in with the password alone", async () => {
    const source = await readAfter((db) =>
      db.prepare("UPDATE users SET otp_secret_ciphertext = 'AAAA' WHERE id = 3").run(),
    );
    const [, alice] = await collect(source.users(0));

    expect(alice).toMatchObject({
      outcome: "read",
      row: { passwordHash: "", totp: null, apiToken: "nAaDnoZLGfC4JKsefkqL" },
      missingParts: [{ part: "factor", reason: expect.stringContaining("No key opens its two-step sign-in") }],
    });
  });

  it("still needs a factor if the flag is damaged", async () => {
    const source = await readAfter((db) =>
      db.prepare("UPDATE users SET otp_required_for_login = 'x' WHERE id = 3").run(),
    );
    const [, alice] = await collect(source.users(0));

    expect(alice).toMatchObject({ row: { totp: { secret: expect.any(String) } }, missingParts: [] });
  });
});
