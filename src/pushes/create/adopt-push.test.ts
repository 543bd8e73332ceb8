import { expect, test } from "vitest";
import { auditEntriesMax } from "../audit/audit-trail.ts";
import type { ImportedEvent } from "../store/adopt-push.ts";
import { importedTrail } from "./adopt-push.ts";

const event: ImportedEvent = {
  kind: "creation",
  userId: 1,
  address: "192.0.2.1",
  userAgent: "",
  referrer: "",
  at: 0,
  updatedAt: 0,
  linkDelivery: null,
};

test("a long imported trail keeps each view of the owner and of administrators, and folds refusals", () => {
  const kinds = ["owner_view", "admin_view", "failed_passphrase", "owner_view", "failed_passphrase"] as const;
  const beyond = kinds.map((kind, at): ImportedEvent => ({ ...event, kind, at: at + 1 }));
  const trail = importedTrail([...Array<ImportedEvent>(auditEntriesMax).fill(event), ...beyond]);
  expect(trail.slice(auditEntriesMax).map(({ kind, sequence, times, at }) => [kind, sequence, times, at])).toEqual([
    ["owner_view", auditEntriesMax + 1, 1, 1],
    ["admin_view", auditEntriesMax + 2, 1, 2],
    ["owner_view", auditEntriesMax + 4, 1, 4],
    ["failed_passphrase", -5, 2, 3],
  ]);
});
