import { expect, it } from "vitest";
import { noFile } from "../../../test/support/settings.ts";
import { loadConfig } from "../load-config.ts";

function load(environment: Readonly<Record<string, string>>) {
  const result = loadConfig(environment, noFile);
  if (!result.ok) throw new Error(result.mistakes.join(" "));
  return result;
}

it.each(["4", "auto", "many"])(
  "WEB_CONCURRENCY=%s is not used, and the start says what to do instead",
  (WEB_CONCURRENCY) => {
    expect(load({ WEB_CONCURRENCY }).warnings).toEqual([
      expect.stringMatching(/^WEB_CONCURRENCY is not used here, because one process is one service.*docs\/scaling\.md/),
    ]);
  },
);

it.each(["0", "1", ""])("WEB_CONCURRENCY=%s asks for what the server does", (WEB_CONCURRENCY) => {
  expect(load({ WEB_CONCURRENCY }).warnings).toEqual([]);
});

it("the delay before a stop is given in seconds", () => {
  expect(load({ PWP__SHUTDOWN_GRACE_SECONDS: "15" }).config.shutdownGraceMs).toBe(15_000);
  expect(load({}).config.shutdownGraceMs).toBe(0);
});

it("the time for a last request is given in seconds, and is shorter than the time for the whole stop", () => {
  expect(load({ PWP__SHUTDOWN_IDLE_SECONDS: "20" }).config.shutdownIdleMs).toBe(20_000);
  expect(load({}).config.shutdownIdleMs).toBe(1_000);
  expect(loadConfig({ PWP__SHUTDOWN_IDLE_SECONDS: "21" }, noFile)).toMatchObject({ ok: false });
});
