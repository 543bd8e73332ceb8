import { expect, test } from "vitest";
import { systemRandom } from "../../base/random.ts";
import { createKeyring } from "../../crypto/keyring.ts";
import type { LinkDeliveryReport } from "../push.ts";
import { type LinkDeliveryRow, pastLinkDelivery, reportOf, sealLinkDelivery } from "./link-deliveries.ts";

const keyring = createKeyring([Buffer.alloc(32, 7)], systemRandom);
const recipients = "ada@example.com, bob@example.com,eve@example.com";
const row = (changes: Partial<LinkDeliveryRow> = {}): LinkDeliveryRow => ({
  id: 3,
  pushId: 1,
  sequence: 2,
  recipientCount: 3,
  sent: 0,
  givenUp: 0,
  putOff: false,
  settledAt: null,
  detailsSealed: sealLinkDelivery(keyring, { id: 3, ownerId: 7 }, { recipients, locale: "de" }),
  ...changes,
});

test.each([
  ["pending", {}, null],
  ["processing", { putOff: true }, ""],
  ["processing", { sent: 0b010 }, "bob@example.com"],
  ["processing", { givenUp: 0b001, putOff: true }, ""],
  ["completed", { sent: 0b111, givenUp: 0b100 }, "ada@example.com,bob@example.com,eve@example.com"],
  ["partially_failed", { sent: 0b100, givenUp: 0b011 }, "eve@example.com"],
  ["failed", { givenUp: 0b111 }, ""],
] as const)("the status is %s for the outcomes of three emails: %j", (status, changes, successfulSends) => {
  const report = reportOf(row({ settledAt: 1_000, ...changes }), 7, keyring);
  const isOver = status !== "pending" && status !== "processing";
  expect(report).toMatchObject({ recipients, locale: "de", status, successfulSends, proceedAt: isOver ? 1_000 : null });
  expect(report.errorMessage === null).toBe(status !== "failed" && status !== "partially_failed");
});

test("an imported link delivery is reported as on the other installation", () => {
  const report: LinkDeliveryReport = {
    recipients,
    locale: null,
    successfulSends: "bob@example.com",
    status: "pending",
    proceedAt: null,
    errorMessage: "an error of that server",
  };
  expect(
    reportOf(pastLinkDelivery(keyring, { id: 9, ownerId: 7, pushId: 1, sequence: 4 }, report), 7, keyring),
  ).toEqual(report);
});

test("details moved to another link delivery or owner do not open", () => {
  expect(() => reportOf(row({ id: 4 }), 7, keyring)).toThrow("do not open");
  expect(() => reportOf(row(), 8, keyring)).toThrow("do not open");
  expect(() => reportOf(row(), null, keyring)).toThrow("do not open");
});
