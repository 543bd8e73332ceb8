import { expect, it } from "vitest";
import { startTestApp } from "../support/app.ts";
import { metricsOn, readSeries } from "../support/metrics.ts";

it("reports the use of the connection pool and the queue lengths in the database", async () => {
  await using app = await startTestApp({ environment: metricsOn });
  const series = await readSeries(await app.listen());
  const of = (name: string) => series.get(`sealpush_database_${name}`);
  expect(of("up")).toBe(1);
  expect(of("connections_max")).toBeGreaterThan(0);
  expect(of("connections_wanted")).toBe(0);
  expect((of('connections{state="idle"}') ?? 0) + (of('connections{state="in_use"}') ?? 0)).toBeGreaterThan(0);
  expect(series.get("sealpush_blob_deletions_due")).toBe(0);
  expect(series.get('sealpush_mails{state="waiting"}')).toBe(0);
});
