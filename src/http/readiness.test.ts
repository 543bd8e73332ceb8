import { afterEach, describe, expect, it, vi } from "vitest";
import { answerMsMax, createReadiness } from "./readiness.ts";

afterEach(() => {
  vi.useRealTimers();
});

function fixture() {
  let now = 0;
  let draining = false;
  const asked: PromiseWithResolvers<boolean>[] = [];
  const readiness = createReadiness({
    canServe: () => {
      const question = Promise.withResolvers<boolean>();
      asked.push(question);
      return question.promise;
    },
    draining: () => draining,
    monotonicMs: () => now,
  });
  return {
    readiness,
    asked,
    pass: (ms: number) => {
      now += ms;
    },
    drain: () => {
      draining = true;
    },
  };
}

describe("readiness", () => {
  it("queries the database once for all concurrent requests and those of the next second", async () => {
    const { readiness, asked, pass } = fixture();
    const looks = Array.from({ length: 100 }, () => readiness.check());
    asked[0]?.resolve(true);
    expect(await Promise.all(looks)).toEqual(Array(100).fill({ state: "ready" }));
    pass(999);
    expect(await readiness.check()).toEqual({ state: "ready" });
    expect(asked).toHaveLength(1);
    pass(1);
    const later = readiness.check();
    asked[1]?.resolve(false);
    expect(await later).toEqual({ state: "database_unavailable" });
    expect(asked).toHaveLength(2);
  });

  it("returns the error that the database threw", async () => {
    const { readiness, asked } = fixture();
    const check = readiness.check();
    const cause = new Error("no connection");
    asked[0]?.reject(cause);
    expect(await check).toEqual({ state: "database_unavailable", cause });
  });

  it("times out, and does not query again before it has an answer", async () => {
    vi.useFakeTimers();
    const { readiness, asked, pass } = fixture();
    const check = readiness.check();
    await vi.advanceTimersByTimeAsync(answerMsMax);
    expect(await check).toEqual({ state: "database_unavailable" });
    pass(60_000);
    const second = readiness.check();
    expect(asked).toHaveLength(1);
    asked[0]?.resolve(true);
    expect(await second).toEqual({ state: "ready" });
  });

  it("sends no more queries once the server drains", async () => {
    const { readiness, asked, drain } = fixture();
    drain();
    expect(await readiness.check()).toEqual({ state: "draining" });
    expect(asked).toHaveLength(0);
  });
});
