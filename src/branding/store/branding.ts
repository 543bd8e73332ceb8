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

/** Each change leaves another mark: whoever has read the parts under this one need not read them again. */
export interface BrandingStore {
  /** undefined: nothing was ever changed. */
  readMark(): Promise<Buffer | undefined>;
  readParts(): Promise<readonly StoredPart[]>;
  put(part: StoredPart, mark: Buffer, together: InTransaction): Promise<void>;
  remove(name: BrandingPart, mark: Buffer, together: InTransaction): Promise<void>;
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
const currentMark = sql<[], { value: Buffer }>("SELECT value FROM meta WHERE name = 'branding_mark'");
const putMark = sql<[mark: Buffer]>(
  `INSERT INTO meta (name, value) VALUES ('branding_mark', ?)
   ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
);

export function createBrandingStore(db: Database): BrandingStore {
  const change = (mark: Buffer, together: InTransaction, work: (tx: Transaction) => Promise<unknown>) =>
    db.write(async (tx) => {
      await work(tx);
      await tx.run(putMark, mark);
      await together(tx);
    });
  return {
    readMark: async () => (await db.read.one(currentMark))?.value,
    readParts: () => db.read.all(allParts),
    put: ({ name, content, contentType, updatedAt }, mark, together) =>
      change(mark, together, (tx) => tx.run(putPart, name, content, contentType, updatedAt)),
    remove: (name, mark, together) => change(mark, together, (tx) => tx.run(removePart, name)),
  };
}
