import type { Database } from "../../src/database/database.ts";

/** The database with its `write` replaced. */
export function overrideWrite(db: Database, write: Database["write"]): Database {
  return {
    engine: db.engine,
    read: db.read,
    lookUp: db.lookUp,
    autocommit: (options) => db.autocommit(options),
    hot: db.hot,
    write,
    untilKnown: (write) => db.untilKnown(write),
    writeSerialized: (lock, work) => db.writeSerialized(lock, work),
    get counts() {
      return db.counts;
    },
    poolUse: () => db.poolUse(),
    answers: () => db.answers(),
    close: () => db.close(),
  };
}
