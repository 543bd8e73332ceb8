import type { Database } from "../../db/sqlite.ts";

export const brandingParts = ["name", "logo", "style"] as const;
export type BrandingPart = (typeof brandingParts)[number];

export interface StoredPart {
  readonly name: BrandingPart;
  readonly content: Buffer;
  readonly contentType: string;
  readonly updatedAt: number;
}

export interface BrandingStore {
  read(): readonly StoredPart[];
  put(part: StoredPart): Promise<void>;
  remove(name: BrandingPart): Promise<void>;
}

export function createBrandingStore(db: Database): BrandingStore {
  const all = db.reader.prepare<[], StoredPart>(
    "SELECT name, content, content_type AS contentType, updated_at AS updatedAt FROM branding",
  );
  const put = db.writer.prepare<[string, Buffer, string, number]>(
    `INSERT INTO branding (name, content, content_type, updated_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET content = excluded.content, content_type = excluded.content_type,
       updated_at = excluded.updated_at`,
  );
  const remove = db.writer.prepare<[string]>("DELETE FROM branding WHERE name = ?");
  return {
    read: () => all.all(),
    put: (part) => db.write(() => void put.run(part.name, part.content, part.contentType, part.updatedAt)),
    remove: (name) => db.write(() => void remove.run(name)),
  };
}
