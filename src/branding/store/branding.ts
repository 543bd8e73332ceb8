import type { Database, InTransaction, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";

export const brandingParts = ["name", "logo", "style"] as const;
export type BrandingPart = (typeof brandingParts)[number];

export interface StoredPart {
  readonly name: BrandingPart;
  readonly content: Buffer;
  readonly contentType: string;
  readonly updatedAt: number;
}

const allParts = sql<[], StoredPart>(
  "SELECT name, content, content_type AS contentType, updated_at AS updatedAt FROM theme_parts",
);
const putPart = sql<[name: string, content: Buffer, contentType: string, updatedAt: number]>(
  `INSERT INTO theme_parts (name, content, content_type, updated_at) VALUES (?, ?, ?, ?)
   ON CONFLICT (name) DO UPDATE SET content = excluded.content, content_type = excluded.content_type,
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
    readParts: () => db.read.all(allParts),
    put: ({ name, content, contentType, updatedAt }: StoredPart, revision: Buffer, together: InTransaction) =>
      change(revision, together, (tx) => tx.run(putPart, name, content, contentType, updatedAt)),
    remove: (name: BrandingPart, revision: Buffer, together: InTransaction) =>
      change(revision, together, (tx) => tx.run(removePart, name)),
  };
}
