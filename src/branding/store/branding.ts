import type { Database, InTransaction, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { bytes, converted, integer, type RowOf, Table, text } from "../../database/table.ts";

export const brandingParts = ["name", "logo", "style"] as const;
export type BrandingPart = (typeof brandingParts)[number];

const themeParts = new Table("theme_parts", {
  name: converted<BrandingPart, string>({
    decode(stored) {
      const part = brandingParts.find((name) => name === stored);
      if (part === undefined) throw new Error(`The database holds the unknown theme part ${stored}.`);
      return part;
    },
    encode: (name) => name,
  }),
  content: bytes,
  contentType: text,
  updatedAt: integer,
});
export type StoredPart = RowOf<typeof themeParts>;

const allParts = themeParts.select<[]>("");
const putPart = themeParts.insert(
  `ON CONFLICT (name) DO UPDATE SET content = excluded.content, content_type = excluded.content_type,
     updated_at = excluded.updated_at`,
);
const removePart = sql<[name: string]>("DELETE FROM theme_parts WHERE name = ?");
const currentRevision = sql<[], { value: Buffer }>("SELECT value FROM meta WHERE name = 'branding_revision'");
const putRevision = sql<[revision: Buffer]>(
  `INSERT INTO meta (name, value) VALUES ('branding_revision', ?)
   ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
);

/** Every change stores a new random revision: a process that has read the parts of this revision need not read them again. */
export function createBrandingStore(db: Database) {
  const change = (revision: Buffer, together: InTransaction, work: (tx: Transaction) => Promise<unknown>) =>
    db.write(async (tx) => {
      await work(tx);
      await tx.run(putRevision, revision);
      await together(tx);
    });
  return {
    /** undefined: nothing was ever changed. */
    readRevision: async () => (await db.read.one(currentRevision))?.value,
    readParts: async () => (await db.read.all(allParts)).map((row) => themeParts.decode(row)),
    put: (part: StoredPart, revision: Buffer, together: InTransaction) =>
      change(revision, together, (tx) => tx.run(putPart, ...themeParts.values(part))),
    remove: (name: BrandingPart, revision: Buffer, together: InTransaction) =>
      change(revision, together, (tx) => tx.run(removePart, name)),
  };
}
