import { underMasterKey } from "../crypto/sealed-column.ts";
import { bound, bytes, harmless, integer, reasons, sealed, Table, text } from "./table.ts";

const { job, limit } = reasons;
/** The index secret and the access secret, by name. */
const domainSecret = underMasterKey("domain secrets", {
  id: "name",
  owner: "NULL",
  from: "(SELECT * FROM meta WHERE name IN ('index_secret', 'access_secret')) AS meta",
});

export const meta = new Table("meta", {
  name: bound(text, "a sealed value contains its name"),
  value: sealed(
    bytes,
    { domainSecret },
    "they are marks: which keys are in use, a move, the state of the mail server, and the like",
  ),
});
export const idBlocks = new Table("id_blocks", {
  name: harmless(text, job),
  nextId: harmless(integer, "an id that is used again gives nothing: what decides contains more than the id"),
});
/** Only SQLite has it. */
export const totals = new Table("totals", { name: harmless(text, limit), bytes: harmless(integer, limit) });
/** Only PostgreSQL has it. */
export const locks = new Table("locks", { name: harmless(text, job) });
/** Only PostgreSQL has it. */
export const schemaVersion = new Table("schema_version", {
  id: harmless(integer, job),
  version: harmless(integer, "a newer one stops the start"),
});
export const processes = new Table("processes", {
  id: harmless(text, job),
  activeKeyId: harmless(text, "it only prevents a rotation of keys"),
  keyIds: harmless(text, "it only prevents a rotation of keys"),
  seenAt: harmless(integer, job),
});
/** Only PostgreSQL has it, as all counters of limits over all processes. */
export const limitWindows = new Table("limit_windows", {
  key: harmless(bytes, limit),
  startedAt: harmless(integer, limit),
  endsAt: harmless(integer, limit),
  count: harmless(integer, limit),
});
/** Only PostgreSQL has it. Its column `charged_at` is an array. */
export const limitAttempts = new Table("limit_attempts", {
  key: harmless(bytes, limit),
  chargedAt: harmless(bytes, limit),
  endsAt: harmless(integer, limit),
});
