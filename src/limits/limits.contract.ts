import { describe, expect, test } from "vitest";
import type { Charge, Counter, Limits } from "./limits.ts";

const start = Date.UTC(2030, 0, 1);
const limit = { name: "tries", windowMs: 60_000, max: 3, rememberedMax: 1_000 };
const refused = (retryAfterSeconds: number) => ({ outcome: "refused", retryAfterSeconds });

async function outcomes(charges: readonly Promise<Charge>[]): Promise<string[]> {
  return (await Promise.all(charges)).map(({ outcome }) => outcome).sort();
}

async function refund(charge: Charge | undefined): Promise<void> {
  if (charge?.outcome !== "charged") throw new Error("The attempt was refused.");
  await charge.refund();
}

/** The behaviour of every implementation of limits. `open` returns one instance per process, all with the same counts. */
export function describeLimits(name: string, open: () => Promise<readonly Limits[]>): void {
  const kinds = { inWindows: "in windows", sliding: "sliding" } as const;
  for (const kind of ["inWindows", "sliding"] as const) {
    /** Makes each attempt in the next process. */
    const openCounter = async (more: Partial<typeof limit> = {}): Promise<Counter> => {
      const counters = (await open()).map((limits) => limits[kind]({ ...limit, ...more }));
      let asked = 0;
      return {
        charge(key, now) {
          const counter = counters[asked % counters.length];
          asked += 1;
          if (counter === undefined) throw new Error("There is no process to count.");
          return counter.charge(key, now);
        },
      };
    };

    describe(`${name}, ${kinds[kind]}`, () => {
      test("the maximum of attempts over all processes, then a wait for the rest of the window", async () => {
        const counter = await openCounter();
        for (let at = 0; at < 3; at += 1)
          expect(await counter.charge("a", start)).toMatchObject({ outcome: "charged" });
        expect(await counter.charge("a", start)).toEqual(refused(60));
        expect(await counter.charge("a", start + 45_500)).toEqual(refused(15));
        expect(await counter.charge("a", start + 59_999)).toEqual(refused(1));
        expect(await counter.charge("a", start + 60_000)).toMatchObject({ outcome: "charged" });
      });

      test("attempts in parallel gain nothing", async () => {
        const counter = await openCounter();
        const racers = Array.from({ length: 40 }, () => counter.charge("a", start));
        expect(await outcomes(racers)).toEqual([...Array(3).fill("charged"), ...Array(37).fill("refused")]);
      });

      test("a refused attempt is not counted, and a refunded one allows another", async () => {
        const counter = await openCounter();
        const [first] = await Promise.all([1, 2, 3].map(() => counter.charge("a", start)));
        for (let ask = 0; ask < 10; ask += 1) {
          expect(await counter.charge("a", start)).toMatchObject({ outcome: "refused" });
        }
        await refund(first);
        expect(await outcomes([counter.charge("a", start), counter.charge("a", start)])).toEqual([
          "charged",
          "refused",
        ]);
      });

      test("a late refund does not reduce a later window", async () => {
        const counter = await openCounter();
        const early = await counter.charge("a", start);
        const later = start + 120_000;
        for (let at = 0; at < 3; at += 1) await counter.charge("a", later);
        await refund(early);
        expect(await counter.charge("a", later)).toMatchObject({ outcome: "refused" });
      });

      test("another key and another limit are unaffected", async () => {
        const counter = await openCounter();
        for (let at = 0; at < 3; at += 1) await counter.charge("a", start);
        expect(await counter.charge("b", start)).toMatchObject({ outcome: "charged" });
        const [limits] = await open();
        const other = limits?.[kind]({ ...limit, name: "others" });
        expect(await other?.charge("a", start)).toMatchObject({ outcome: "charged" });
      });

      test("an attempt that is charged late, with an earlier time, does not forget the others", async () => {
        const counter = await openCounter();
        const late = Array.from({ length: 20 }, (_, at) => counter.charge("a", start + 20_000 - 1_000 * at));
        expect(await outcomes(late)).toEqual([...Array(3).fill("charged"), ...Array(17).fill("refused")]);
      });

      test("after the clock is set back, no client is locked out until the old time", async () => {
        const counter = await openCounter();
        for (let at = 0; at < 3; at += 1) await counter.charge("a", start + 3_600_000);
        expect(await counter.charge("a", start)).toMatchObject({ outcome: "charged" });
      });
    });
  }

  test(`${name}: a window begins with its first attempt, and all its attempts expire together`, async () => {
    const [limits] = await open();
    const counter = limits?.inWindows(limit);
    const at = async (ms: number) => (await counter?.charge("a", start + ms))?.outcome;
    for (const ms of [0, 50_000, 55_000]) expect(await at(ms)).toBe("charged");
    expect(await at(59_000)).toBe("refused");
    for (const ms of [60_000, 60_001, 60_002]) expect(await at(ms)).toBe("charged");
    expect(await at(60_003)).toBe("refused");
  });

  test(`${name}: amounts are charged as a whole or not at all, and refunded as a whole`, async () => {
    const counters = (await open()).map((limits) => limits.inWindows({ ...limit, max: 3_000_000_000 }));
    const [here, there] = [counters[0], counters.at(-1)];
    const first = await here?.charge("a", start, 2_000_000_000);
    expect(await there?.charge("a", start + 15_000, 1_000_000_001)).toEqual(refused(45));
    expect(await there?.charge("a", start, 1_000_000_000)).toMatchObject({ outcome: "charged" });
    expect(await here?.charge("a", start, 1)).toEqual(refused(60));
    await refund(first);
    expect(await here?.charge("a", start, 2_000_000_001)).toEqual(refused(60));
    expect(await there?.charge("a", start, 2_000_000_000)).toMatchObject({ outcome: "charged" });
    // Larger than the whole limit, for a key without a window.
    expect(await here?.charge("b", start, 3_000_000_001)).toEqual(refused(60));
    expect(await here?.charge("b", start, 3_000_000_000)).toMatchObject({ outcome: "charged" });
  });

  test(`${name}: no period of one minute contains more attempts than a sliding limit allows`, async () => {
    const [limits] = await open();
    const counter = limits?.sliding(limit);
    const at = async (ms: number) => (await counter?.charge("a", start + ms))?.outcome;
    for (const ms of [0, 50_000, 55_000]) expect(await at(ms)).toBe("charged");
    expect(await at(60_000)).toBe("charged");
    expect(await at(60_001)).toBe("refused");
    expect(await at(109_999)).toBe("refused");
    expect(await at(110_000)).toBe("charged");
  });
}
