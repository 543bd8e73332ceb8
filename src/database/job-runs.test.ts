import { expect, it } from "vitest";
import { openTestDomain } from "../../test/support/domain.ts";
import { type JobRun, nextRunOf } from "./job-runs.ts";

const never: JobRun = {
  ...{ name: "sweep", everyMs: 30_000, startedAt: null, succeededAt: null },
  ...{ durationMs: null, failedAt: null, failure: null },
};

it("keeps the latest of each, whichever process reports last", async () => {
  await using fixture = await openTestDomain();
  const { jobs } = fixture.domain;
  await jobs.record([never]);
  expect(await jobs.list()).toEqual([never]);
  await jobs.record([{ ...never, startedAt: 20, succeededAt: 25, durationMs: 5 }]);
  await jobs.record([{ ...never, startedAt: 30, failedAt: 31, failure: "Error (EIO)" }]);
  await jobs.record([{ ...never, startedAt: 10, succeededAt: 12, durationMs: 2, failedAt: 9, failure: "Error (OLD)" }]);
  expect(await jobs.list()).toEqual([
    { ...never, startedAt: 30, succeededAt: 25, durationMs: 5, failedAt: 31, failure: "Error (EIO)" },
  ]);
});

it.each([
  [null, 100, undefined],
  [0, 0, 30_000],
  [0, 29_999, 30_000],
  [0, 30_001, 60_000],
  [50_000, 0, 80_000],
])("a job that started at %j runs next, at %j, at %j", (startedAt, now, next) => {
  expect(nextRunOf({ startedAt, everyMs: 30_000 }, now)).toBe(next);
});
