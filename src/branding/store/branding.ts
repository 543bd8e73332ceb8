import type { AccessKeys } from "../../crypto/access-keys.ts";
import { AuthenticatedTable, type UnopenedRow } from "../../database/authenticated-table.ts";
import type { Database, InTransaction, Transaction } from "../../database/database.ts";
import { putMeta, readMeta } from "../../database/meta.ts";
import { sql } from "../../database/statement.ts";
import { authenticated, bytes, harmless, integer, oneOfTexts, reasons, text } from "../../database/table.ts";

export const brandingParts = ["name", "logo", "accent", "style"] as const;
export type BrandingPart = (typeof brandingParts)[number];

/** Authenticated: a style sheet that somebody writes into the database could read a page and report what it has read. */
export const themeParts = new AuthenticatedTable("theme_parts", "part", {
  name: authenticated(oneOfTexts(brandingParts)),
  contentType: authenticated(text),
  content: authenticated(bytes),
  updatedAt: harmless(integer, reasons.shown),
});
const reading = themeParts.reading();
type UnopenedPart = UnopenedRow<typeof reading>;

interface StoredPart {
  readonly name: BrandingPart;
  readonly contentType: string;
  readonly content: Buffer;
}
interface NewPart extends StoredPart {
  readonly updatedAt: number;
}

const allParts = sql<[], UnopenedPart>(`SELECT ${reading.selectList} FROM theme_parts`);
const putPart = themeParts.insertion(
  `ON CONFLICT (name) DO UPDATE SET content = excluded.content, content_type = excluded.content_type,
     updated_at = excluded.updated_at, mac = excluded.mac`,
);
const removePart = sql<[name: string]>("DELETE FROM theme_parts WHERE name = ?");
const revisionName = "branding_revision";

/** Every change stores a new random revision: a process that has read the parts of this revision need not read them again. */
export function createBrandingStore(db: Database, access: AccessKeys) {
  const change = (revision: Buffer, together: InTransaction, work: (tx: Transaction) => Promise<unknown>) =>
    db.write(async (tx) => {
      await work(tx);
      await tx.run(putMeta, revisionName, revision);
      await together(tx);
    });
  return {
    /** undefined: nothing was ever changed. */
    readRevision: async () => (await db.read.one(readMeta, revisionName))?.value,
    /** The parts that this server wrote; others are reported. */
    readParts: async (): Promise<readonly StoredPart[]> => reading.openAll(access, await db.read.all(allParts)),
    put: (part: NewPart, revision: Buffer, together: InTransaction) =>
      change(revision, together, (tx) => putPart(tx, access, part)),
    remove: (name: BrandingPart, revision: Buffer, together: InTransaction) =>
      change(revision, together, (tx) => tx.run(removePart, name)),
  };
}
