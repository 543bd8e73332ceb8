import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { expected } from "../../../test/support/password-pusher/expected.ts";
import {
  installDefaultKey,
  installProduction,
  keysOfFixture,
} from "../../../test/support/password-pusher/installations.ts";
import { collect, openSource, readAfter } from "../../../test/support/password-pusher/open-source.ts";
import { sealedByLockbox } from "../../../test/support/password-pusher/seal.ts";

import { type ImportSource, SourceFileError, type SourcePush, type SourceRow } from "./source.ts";

/** Ids of pushes in the fixture: text-plain, text-passphrase-utf8 (owned, all three values sealed), url-plain. */
const [textPush, sealedPush, urlPush] = [11, 17, 36];

async function pushOf(source: ImportSource, id: number): Promise<SourceRow<SourcePush> | undefined> {
  return (await collect(source.pushes(id - 1)))[0];
}

describe("a push that cannot be read completely", () => {
  it("is read without its note if only the note cannot be opened", async () => {
    const source = await readAfter((db) =>
      db.prepare("UPDATE pushes SET note_ciphertext = 'AAAA' WHERE id = ?").run(sealedPush),
    );

    expect(await pushOf(source, sealedPush)).toMatchObject({
      outcome: "read",
      row: { note: null, open: { payload: "Grüße aus Köln" } },
      missingParts: [{ part: "note", reason: "No key opens its note. The push is imported without it." }],
    });
  });

  it.each(["payload", "passphrase"])(
    "is left out if its %s cannot be opened, and the others are read",
    async (value) => {
      const source = await readAfter((db) =>
        db.prepare(`UPDATE pushes SET ${value}_ciphertext = 'bm90IHNlYWxlZA==' WHERE id = ?`).run(sealedPush),
      );
      const rows = await collect(source.pushes(0));

      expect(rows.find(({ id }) => id === sealedPush)).toMatchObject({
        outcome: "unreadable",
        reason: `No key opens its ${value}.`,
      });
      expect(rows.filter(({ outcome }) => outcome === "unreadable").map(({ id }) => id)).toEqual([sealedPush, 103]);
    },
  );

  it("is reported by its id if its kind or time is invalid", async () => {
    const source = await readAfter((db) => {
      db.prepare("UPDATE pushes SET kind = 4 WHERE id = ?").run(textPush);
      db.prepare("UPDATE pushes SET created_at = 'yesterday' WHERE id = ?").run(urlPush);
    });

    expect(await pushOf(source, textPush)).toMatchObject({
      outcome: "unreadable",
      reason: "Its kind 4 is not known.",
    });
    expect(await pushOf(source, urlPush)).toMatchObject({
      outcome: "unreadable",
      reason: "Its time of creation (created_at) cannot be read.",
    });
  });

  it.each([
    ["user_id", "Its owner"],
    ["expire_after_days", "Its number of days"],
    ["expire_after_views", "Its number of views"],
    ["expired", "Whether it has ended"],
    ["deletable_by_viewer", "Whether viewers may delete it"],
    ["retrieval_step", "Whether it has a retrieval step"],
  ])("is reported by its id, without a guess, if its %s is damaged", async (column, what) => {
    const source = await readAfter((db) => {
      db.pragma("foreign_keys = OFF");
      for (const [value, id] of [
        ["x", textPush],
        [1e300, urlPush],
      ]) {
        db.prepare(`UPDATE pushes SET ${column} = ? WHERE id = ?`).run(value, id);
      }
    });

    for (const id of [textPush, urlPush]) {
      expect(await pushOf(source, id)).toMatchObject({
        outcome: "unreadable",
        reason: `${what} (${column}) cannot be read.`,
      });
    }
  });

  it("is reported by its id, and does not stop others, if the id is too large", async () => {
    const source = await readAfter((db) => {
      db.pragma("foreign_keys = OFF");
      db.prepare("UPDATE pushes SET id = 9223372036854775807 WHERE id = ?").run(textPush);
      db.prepare("UPDATE pushes SET id = -5 WHERE id = ?").run(urlPush);
    });
    const rows = await collect(source.pushes());

    expect(rows).toHaveLength(48);
    expect(rows[0]).toMatchObject({ id: -5, outcome: "read" });
    expect(rows.at(-1)).toMatchObject({ id: 2 ** 63, outcome: "unreadable" });
  });

  it("ends at its creation if its number of days is negative", async () => {
    const source = await readAfter((db) =>
      db.prepare("UPDATE pushes SET expire_after_days = ? WHERE id = ?").run(Number.MIN_SAFE_INTEGER, textPush),
    );
    const row = await pushOf(source, textPush);

    expect(row).toMatchObject({ outcome: "read", row: { open: null, end: { reason: "time" } } });
    expect(row?.outcome === "read" && row.row.end?.at).toBe(row?.outcome === "read" && row.row.createdAt);
  });

  it("is left out without a url_token, because it has no link", async () => {
    const source = await readAfter((db) => {
      db.prepare("UPDATE pushes SET url_token = NULL WHERE id = ?").run(textPush);
      db.prepare("UPDATE pushes SET url_token = '' WHERE id = ?").run(urlPush);
    });
    const skipped = (await collect(source.pushes(0))).filter(({ outcome }) => outcome === "skipped");

    expect(skipped.map(({ id }) => id)).toEqual([textPush, urlPush]);
    expect(await source.counts()).toMatchObject({ pushes: 48 });
  });

  it("keeps its other files if one has no blob", async () => {
    const source = await readAfter((db) => {
      db.pragma("foreign_keys = OFF");
      db.prepare("DELETE FROM active_storage_blobs WHERE id = 7").run();
    });

    const row = await pushOf(source, 57);
    expect(row).toMatchObject({
      outcome: "read",
      missingParts: [{ part: "files", reason: "Its attachment 4 has no blob." }],
    });
    expect(row?.outcome === "read" && row.row.open?.files.map(({ id }) => id)).toEqual([3, 5]);
  });

  it("has an unreadable file if its blob row is damaged", async () => {
    const source = await readAfter((db) => {
      db.pragma("foreign_keys = OFF");
      db.prepare("UPDATE active_storage_blobs SET byte_size = 'large' WHERE id = 7").run();
    });
    const row = await pushOf(source, 57);
    const [, damaged] = (row?.outcome === "read" && row.row.open?.files) || [];
    if (damaged === undefined) throw new Error("The fixture lacks the expected file.");

    await expect(collect(source.readFile(damaged))).rejects.toThrow(
      new SourceFileError("Its size (byte_size) cannot be read."),
    );
  });

  it("is reported by its id if pages of the database are damaged, and the others are read", async () => {
    const installation = installProduction((db) => {
      db.pragma("journal_mode = DELETE");
      // The payload fills whole overflow pages, so the damage affects only this push.
      db.prepare("UPDATE pushes SET payload_ciphertext = ? WHERE id = ?").run("Q".repeat(200_000), textPush);
    });
    const bytes = readFileSync(installation.databasePath);
    // An overflow page starts with the number of the next page. Point it outside of the file.
    const pageBytes = 4_096;
    const page = Array.from({ length: bytes.length / pageBytes }, (_, at) => at * pageBytes).find((start) =>
      bytes.subarray(start + 4, start + pageBytes).equals(Buffer.alloc(pageBytes - 4, "Q")),
    );
    bytes.fill(0xff, page, (page ?? 0) + 4);
    writeFileSync(installation.databasePath, bytes);

    const rows = await collect((await openSource(installation)).pushes(0));

    expect(rows).toHaveLength(48);
    expect(rows.find(({ id }) => id === textPush)).toMatchObject({ outcome: "unreadable" });
    expect(rows.filter(({ outcome }) => outcome === "unreadable").map(({ id }) => id)).toEqual([textPush, 103]);
  });
});

describe("missing values of old rows", () => {
  it("are 7 days, 5 views and false", async () => {
    const source = await readAfter((db) =>
      db
        .prepare(
          "UPDATE pushes SET expire_after_days = NULL, expire_after_views = NULL, expired = NULL, deletable_by_viewer = NULL, retrieval_step = NULL WHERE id = ?",
        )
        .run(textPush),
    );

    expect(await pushOf(source, textPush)).toMatchObject({
      row: { expireAfterDays: 7, expireAfterViews: 5, deletableByViewer: false, retrievalStep: false, end: null },
    });
  });

  it.each([
    ["", null],
    [" \t\u00a0\u2003\u0085\r\n", null],
    ["  two blanks before and one after ", "  two blanks before and one after "],
    ["\u200b", "\u200b"],
  ])("reads the passphrase %j as %j: blank means none, others are kept exactly", async (text, kept) => {
    const column = { table: "pushes", column: "passphrase_ciphertext" } as const;
    const sealed = sealedByLockbox(keysOfFixture.PWPUSH_MASTER_KEY, column, text);
    const source = await readAfter((db) =>
      db.prepare("UPDATE pushes SET passphrase_ciphertext = ? WHERE id = ?").run(sealed, sealedPush),
    );

    expect(await pushOf(source, sealedPush)).toMatchObject({ row: { open: { passphrase: kept } } });
  });

  it("leave out audit entries of an unknown kind, with a reason", async () => {
    const source = await readAfter((db) => {
      db.prepare("UPDATE audit_logs SET kind = 77 WHERE push_id = ? AND kind = 1").run(textPush);
      db.prepare("UPDATE audit_logs SET ip = NULL, user_agent = NULL, referrer = NULL WHERE push_id = ?").run(textPush);
    });
    const { entries, missingParts } = await source.trail(textPush);

    expect(entries).toMatchObject([{ kind: "creation", address: "", userAgent: "", referrer: "" }]);
    expect(missingParts).toEqual([
      { part: "trail", reason: expect.stringMatching(/^The audit entry \d+ is left out: its kind is not known\.$/) },
    ]);
  });

  it("name unknown users and unknown results of link deliveries as missing", async () => {
    const source = await readAfter((db) => {
      db.prepare("UPDATE audit_logs SET user_id = 'x' WHERE push_id = ?").run(textPush);
      db.prepare("UPDATE notify_by_emails SET status = 9 WHERE id = 1").run();
    });

    const { entries, missingParts } = await source.trail(textPush);
    expect(entries.map(({ userId }) => userId)).toEqual(entries.map(() => null));
    expect(missingParts).toHaveLength(entries.length);
    expect(missingParts[0]).toMatchObject({
      part: "people",
      reason: expect.stringMatching(/\(user_id\) of the audit entry \d+ /),
    });
    expect((await source.trail(119)).missingParts).toEqual([
      {
        part: "notifications",
        reason: expect.stringMatching(/^The status of the link delivery 1 .*imported as failed\.$/),
      },
    ]);
  });

  it("include tables and columns of later versions", async () => {
    const source = await readAfter((db) => {
      db.exec(
        "DROP TABLE notify_by_emails; DROP TABLE site_settings; DELETE FROM schema_migrations WHERE version > '20260101'",
      );
      for (const column of [
        "otp_secret_ciphertext",
        "otp_required_for_login",
        "last_otp_timestep",
        "otp_backup_code_digests",
      ]) {
        db.exec(`ALTER TABLE users DROP COLUMN ${column}`);
      }
    });

    expect(source.warnings).toEqual([expect.stringMatching(/older than 2\.11\.4 .*read as empty/)]);
    expect((await collect(source.users(0))).map((user) => user.outcome === "read" && user.row.totp)).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect((await source.trail(119)).entries.map(({ notification }) => notification)).not.toContainEqual(
      expect.anything(),
    );
    expect(await source.styleSheet()).toBeUndefined();
  });
});

describe("keys", () => {
  it("cause a warning with counts of the values under the published key, once there are such values", async () => {
    const source = await openSource(installDefaultKey());
    expect(source.warnings).toEqual([]);

    await collect(source.pushes(0));
    await collect(source.users(0));
    expect(source.warnings).toEqual([
      expect.stringMatching(
        /^\d pushes were sealed under the published default key, .* change the secrets that matter/,
      ),
      expect.stringMatching(/^1 user's two-step sign-in was sealed under the published default key/),
      expect.stringContaining("1 user has backup codes, which are not imported"),
    ]);
  });

  it("open nothing if they are wrong; each push is reported, and plain values are read", async () => {
    const installation = installProduction();
    const source = await openSource(installation, { environment: { PWPUSH_MASTER_KEY: "ab".repeat(32) } });
    const rows = await collect(source.pushes(0));

    for (const push of expected.production.pushes) {
      const row = rows.find(({ id }) => id === push.id);
      const isSealed = (push.payload ?? "") + (push.passphrase ?? "") !== "" || push.unreadable.length > 0;
      expect(row?.outcome, push.tag).toBe(!push.at_reference.expired && isSealed ? "unreadable" : "read");
    }
  });
});
