import type { App } from "../../src/app.ts";
import type { SqliteDatabase } from "../../src/db/sqlite.ts";
import type { House } from "../../src/house.ts";

/** With the engine's own connections, for tests that look into the file; they run on SQLite only. */
export type SqliteHouse = House & { readonly db: SqliteDatabase };
export type SqliteApp = App & { readonly house: SqliteHouse };
