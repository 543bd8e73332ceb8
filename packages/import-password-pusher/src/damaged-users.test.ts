import { describe, expect, it } from "vitest";
import { installProduction } from "../../../test/support/password-pusher/installations.ts";
import { collect, openSource, readAfter } from "../../../test/support/password-pusher/open-source.ts";

it("makes nobody an administrator by a word that is neither yes nor no, and says so", async () => {
  const source = await readAfter((db) => db.prepare("UPDATE users SET admin = 'x' WHERE id = 1").run());

  expect((await collect(source.users(0)))[0]).toMatchObject({ outcome: "read", row: { admin: false } });
  expect(source.warnings).toEqual([
    "1 user comes along without the rights of an administrator: whether it has them (admin) cannot be read (1).",
  ]);
});

describe("a user whose second factor is lost", () => {
  it("does not come in by the password alone", async () => {
    const source = await readAfter((db) =>
      db.prepare("UPDATE users SET otp_secret_ciphertext = 'AAAA' WHERE id = 3").run(),
    );
    const [, alice] = await collect(source.users(0));

    expect(alice).toMatchObject({
      outcome: "read",
      row: { passwordHash: "", totp: null, apiToken: "nAaDnoZLGfC4JKsefkqL" },
      lacks: [{ part: "factor", reason: expect.stringContaining("No key opens its second factor") }],
    });
  });

  it("needs a factor still when the word for it is neither yes nor no", async () => {
    const source = await readAfter((db) =>
      db.prepare("UPDATE users SET otp_required_for_login = 'x' WHERE id = 3").run(),
    );
    const [, alice] = await collect(source.users(0));

    expect(alice).toMatchObject({ row: { totp: { secret: expect.any(String) } }, lacks: [] });
  });

  it("comes without backup codes when their key is not given, and that is told", async () => {
    const installation = installProduction();
    const source = await openSource(installation, {
      environment: { ...installation.environment, SECRET_KEY_BASE: "" },
    });
    const [, alice] = await collect(source.users(0));

    expect(alice).toMatchObject({
      row: { totp: { backupCodes: null } },
      lacks: [{ part: "backup_codes", reason: expect.stringContaining("SECRET_KEY_BASE") }],
    });
  });
});
