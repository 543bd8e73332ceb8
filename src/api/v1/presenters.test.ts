import { expect, test } from "vitest";
import type { AuditEntry } from "../../pushes/pushes.ts";
import { presentAudit } from "./presenters.ts";

test("an audit entry of a link delivery has no keys that v1 clients do not know", () => {
  const entry: AuditEntry = {
    kind: "creation_email_send",
    address: "192.0.2.1",
    userAgent: "a",
    referrer: "",
    createdAt: 0,
    updatedAt: 0,
    times: 1,
    linkDelivery: {
      recipients: "ada@example.com",
      locale: null,
      status: "completed",
      successfulSends: "ada@example.com",
      proceedAt: 0,
      errorMessage: null,
    },
  };
  expect(presentAudit([entry]).views.map((view) => Object.keys(view))).toEqual([
    ["ip", "user_agent", "referrer", "kind", "created_at", "updated_at"],
  ]);
});
