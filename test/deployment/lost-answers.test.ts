import { expect, test } from "vitest";
import { openDeployment, type Which } from "../support/deployment.ts";
import { seededNumbers } from "../support/seeded-numbers.ts";

const deployment = openDeployment({ watched: true });

test("one client's right passphrases are never refused as too many while answers of the database are lost", async () => {
  const tokens: string[] = [];
  for (const _ of ["one", "other"]) {
    const push = { payload: "secret", passphrase: "right", expire_after_views: 100 };
    tokens.push((await deployment.api("/api/v2/pushes", { body: { push } })).body.url_token);
  }
  const faults = seededNumbers(0x429);
  let lost = 0;
  for (const which of [0, 1] satisfies Which[]) {
    deployment.database(which).intercept((statement) => {
      if (!statement.includes("limit_attempts") || faults() > 0.1) return "pass";
      lost += 1;
      return faults() < 0.5 ? "lose answer" : "lose request";
    });
  }
  const headers = { "x-forwarded-for": "192.0.2.1", "x-push-passphrase": "right" };
  const statuses = new Map<number, number>();
  for (let round = 0; round < 25; round += 1) {
    // One at each process.
    const asked = [...tokens, ...tokens];
    const opened = await Promise.all(asked.map((token) => deployment.api(`/api/v2/pushes/${token}`, { headers })));
    for (const { status } of opened) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  for (const which of [0, 1] satisfies Which[]) deployment.database(which).intercept(() => "pass");
  expect(lost).toBeGreaterThan(20);
  expect([...statuses.keys()]).not.toContain(429);
  expect(statuses.get(200)).toBeGreaterThan(80);
});
