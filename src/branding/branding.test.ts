import { describe, expect, it } from "vitest";
import { TestClock } from "../../test/support/domain.ts";
import { changeRows, openEngineDatabase } from "../../test/support/engine-database.ts";
import { overrideWrite } from "../../test/support/override-write.ts";
import { systemRandom } from "../base/random.ts";
import { AccessKeys } from "../crypto/access-keys.ts";
import { nothingElse } from "../database/database.ts";
import { sql } from "../database/statement.ts";
import { openBranding } from "./branding.ts";

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);

async function makeBranding() {
  const forgedRows: string[] = [];
  const access = new AccessKeys(Buffer.alloc(32, 1), (table) => forgedRows.push(table));
  const effects = { clock: new TestClock(), random: systemRandom };
  const deps = { db: openEngineDatabase(), ...effects, access, configuredName: undefined };
  return { db: deps.db, access, forgedRows, branding: await openBranding(deps), other: await openBranding(deps) };
}

it("is the product's until it is changed, and again after a reset", async () => {
  const { branding } = await makeBranding();
  expect(branding.theme()).toEqual({ name: undefined, logo: undefined, style: undefined });
  expect(await branding.setName("  Example Handover ", nothingElse)).toBe(true);
  expect(branding.theme().name).toBe("Example Handover");
  await branding.reset("name", nothingElse);
  expect(branding.theme().name).toBeUndefined();
});

it("refuses a name with hidden characters or line breaks", async () => {
  const { branding } = await makeBranding();
  for (const name of ["", "   ", "a".repeat(61), "a\nb", "a\u202eb", "a\u0000"]) {
    expect(await branding.setName(name, nothingElse)).toBe(false);
  }
  for (const name of ["<b>&", "\u{1f469}\u200d\u{1f4bb} IT"])
    expect(await branding.setName(name, nothingElse)).toBe(true);
});

it("serves a file under a name that changes with its content", async () => {
  const { branding } = await makeBranding();
  expect(await branding.setLogo(png, nothingElse)).toBe(true);
  const first = branding.theme().logo;
  expect(first).toMatchObject({ contentType: "image/png", content: png });
  expect(first?.filename).toMatch(/^logo-[0-9a-f]{16}\.png$/);
  expect(await branding.findFile(first?.filename ?? "")).toEqual(first);
  expect(await branding.setLogo(Buffer.concat([png, png]), nothingElse)).toBe(true);
  expect(await branding.findFile(first?.filename ?? "")).toBeUndefined();
});

it("accepts images by their bytes: no markup, and not too large", async () => {
  const { branding } = await makeBranding();
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>';
  for (const bytes of [
    Buffer.from(svg),
    Buffer.from("<html>"),
    Buffer.alloc(0),
    Buffer.concat([png, Buffer.alloc(262_144)]),
  ]) {
    expect(await branding.setLogo(bytes, nothingElse)).toBe(false);
  }
  expect(branding.theme().logo).toBeUndefined();
});

it("is visible to another process after its next refresh, even if the clocks differ", async () => {
  const { branding, other } = await makeBranding();
  expect(other.theme().style).toBeUndefined();
  expect(await branding.setStyle("a { color: red }", nothingElse)).toBeUndefined();
  expect(other.theme().style).toBeUndefined();
  await other.refresh();
  expect(other.theme().style?.content.toString()).toBe("a{color:red}");
  await branding.reset("style", nothingElse);
  await branding.setStyle("a { color: blue }", nothingElse);
  await other.refresh();
  expect(other.theme().style?.content.toString()).toBe("a{color:blue}");
});

it("is that of the later of two refreshes, whichever ends first", async () => {
  const { db, access, branding } = await makeBranding();
  const mayReturn = Promise.withResolvers<void>();
  let hasRead = Promise.withResolvers<void>();
  let isHeld = false;
  const all: typeof db.read.all = async (...statement) => {
    const rows = await db.read.all(...statement);
    hasRead.resolve();
    if (isHeld) await mayReturn.promise;
    return rows;
  };
  const one: typeof db.read.one = (...statement) => db.read.one(...statement);
  const slow = { ...overrideWrite(db, (work) => db.write(work)), read: { one, all } };
  const effects = { clock: new TestClock(), random: systemRandom };
  const other = await openBranding({ db: slow, ...effects, access, configuredName: undefined });
  await branding.setName("Earlier", nothingElse);
  [isHeld, hasRead] = [true, Promise.withResolvers<void>()];
  const earlier = other.refresh();
  await hasRead.promise;
  isHeld = false;
  await branding.setName("Later", nothingElse);
  await other.refresh();
  mayReturn.resolve();
  await earlier;
  expect(other.theme().name).toBe("Later");
});

it("is found by every process, even one that has not refreshed yet", async () => {
  const { branding, other } = await makeBranding();
  await branding.setLogo(png, nothingElse);
  const logo = branding.theme().logo;
  expect(await other.findFile(logo?.filename ?? "")).toEqual(logo);
});

describe("a part that somebody wrote into the database", () => {
  const css = "#link[value*=ab]{background:url(/p/token)}";
  const putStyle = `INSERT INTO theme_parts (name, content, content_type, updated_at, mac) VALUES ('style', ?, 'text/css', 0, ?)`;

  async function readAfter(change: (made: Awaited<ReturnType<typeof makeBranding>>) => Promise<unknown>) {
    const made = await makeBranding();
    await change(made);
    await changeRows(made.db, "INSERT INTO meta (name, value) VALUES ('branding_revision', ?)", Buffer.from("another"));
    await made.other.refresh();
    return { theme: made.other.theme(), forgedRows: made.forgedRows };
  }
  const nothing = { name: undefined, logo: undefined, accent: undefined, style: undefined };

  it.each([null, Buffer.alloc(16)])("is absent and reported if its MAC is %s", async (mac) => {
    const read = await readAfter(({ db }) => changeRows(db, putStyle, Buffer.from("a{color:red}"), mac));
    expect(read).toEqual({ theme: nothing, forgedRows: ["theme_parts"] });
  });

  it.each([
    ["content", "content = ?", Buffer.from(css)],
    ["content type", "content_type = ?", "text/html"],
    ["name", "name = ?", "logo"],
  ])("is absent and reported if its %s was changed", async (_, set, value) => {
    const read = await readAfter(async ({ db, branding }) => {
      await branding.setStyle("a { color: red }", nothingElse);
      await changeRows(db, `UPDATE theme_parts SET ${set}`, value);
      await changeRows(db, "DELETE FROM meta WHERE name = 'branding_revision'");
    });
    expect(read).toEqual({ theme: nothing, forgedRows: ["theme_parts"] });
  });

  it("is absent and reported if it would be refused, even with a valid MAC", async () => {
    const read = await readAfter(async ({ db, access }) => {
      const put = "INSERT INTO theme_parts (name, content, content_type, updated_at, mac) VALUES (?, ?, ?, 0, ?)";
      for (const [name, type, content] of [
        ["style", "text/css; charset=utf-8", Buffer.from(css)],
        ["logo", "image/png", Buffer.from("<svg/>")],
        ["accent", "text/plain", Buffer.from("#fff}a{")],
        ["name", "text/plain", Buffer.from("a‮b")],
      ] as const) {
        await changeRows(db, put, name, content, type, access.mac("theme_parts", [name, type, content]));
      }
    });
    expect(read).toEqual({ theme: nothing, forgedRows: Array(4).fill("theme_parts") });
  });
});

it("changes together with what is written in the same transaction, or not at all", async () => {
  const { db, branding } = await makeBranding();
  const failing = () => Promise.reject(new Error("cannot be written"));
  await expect(branding.setName("Other", failing)).rejects.toThrow("cannot be written");
  await branding.refresh();
  expect(branding.theme().name).toBeUndefined();
  const note = sql("INSERT INTO meta (name, value) VALUES ('noted', 'x')");
  await branding.setName("Other", async (tx) => {
    await tx.run(note);
  });
  expect(await db.read.one(sql("SELECT 1 AS noted FROM meta WHERE name = 'noted'"))).toEqual({ noted: 1 });
});
