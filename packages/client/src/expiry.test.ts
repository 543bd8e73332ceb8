import { expect, test } from "vitest";
import { expiryOf } from "./expiry.ts";

test.each([
  ["15m", { expire_after_duration: 0 }],
  ["60m", { expire_after_duration: 3 }],
  ["1h", { expire_after_duration: 3 }],
  ["12h", { expire_after_duration: 5 }],
  ["24h", { expire_after_days: 1 }],
  ["3d", { expire_after_days: 3 }],
  ["2w", { expire_after_days: 14 }],
  ["90d", { expire_after_days: 90 }],
  ["2026-12-01T17:00:00Z", { expires_at: "2026-12-01T17:00:00Z" }],
])("%s is %j", (text, fields) => {
  expect(expiryOf(text)).toEqual(fields);
});

test.each(["", "0d", "1", "-1h", "1.5h", "2h", "25h", "1y", "1 h", "999999d", "2026-12-01", "2026-13-01T17:00:00Z"])(
  "%j is no limit of a server",
  (text) => {
    expect(expiryOf(text)).toBeUndefined();
  },
);
