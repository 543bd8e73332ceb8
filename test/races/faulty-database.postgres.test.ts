import { describe, expect, it, onTestFinished } from "vitest";
import { OutcomeUnknownError } from "../../src/database/database.ts";
import { countEveryone, makeDataDir, openTestDomain, stranger, type TestDomain } from "../support/domain.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";
import { limitConnections } from "../support/postgres/limited-role.ts";
import { roundsOf } from "../support/rounds.ts";
import { seededNumbers } from "../support/seeded-numbers.ts";
import { type Interception, TcpProxy } from "../support/tcp-proxy.ts";

const processes = 4;
const racers = 40;
const rounds = roundsOf(25);

/** Connection pools of several processes on one database. */
async function open(environment: Readonly<Record<string, string>>): Promise<readonly TestDomain[]> {
  const dataDir = makeDataDir();
  const domains: TestDomain[] = [];
  for (let at = 0; at < processes; at += 1) {
    const fixture = await openTestDomain({ dataDir, environment });
    onTestFinished(() => fixture[Symbol.asyncDispose]());
    domains.push(fixture);
  }
  return domains;
}

async function race(domains: readonly TestDomain[], urlToken: string): Promise<readonly string[]> {
  const claims = Array.from({ length: racers }, async (_, at) => {
    try {
      const pushes = domains[at % domains.length]?.domain.pushes;
      return (await pushes?.claimView(urlToken, countEveryone, stranger))?.outcome ?? "no domain";
    } catch (error) {
      if (error instanceof OutcomeUnknownError) return "unknown";
      throw error;
    }
  });
  return await Promise.all(claims);
}

const counted = (outcomes: readonly string[], outcome: string) => outcomes.filter((one) => one === outcome).length;

async function createPush(domains: readonly TestDomain[], views: number): Promise<string> {
  const created = await domains[0]?.domain.pushes.create({ payload: "x", expireAfterViews: views }, stranger);
  return created?.urlToken ?? "";
}

describe.each([1, 5])(
  "40 concurrent retrievals of a push of %i views through four pools",
  { timeout: 300_000 },
  (views) => {
    it("reveal it exactly that often on a role that has too few connections", async () => {
      const { url } = await makePostgresDatabase();
      const environment = { DATABASE_URL: await limitConnections(url, 6), PWP__DATABASE__CONNECT_TIMEOUT: "120" };
      const domains = await open(environment);
      for (let round = 0; round < rounds; round += 1) {
        const outcomes = await race(domains, await createPush(domains, views));
        expect([counted(outcomes, "revealed"), counted(outcomes, "gone")]).toEqual([views, racers - views]);
      }
    });

    it("never reveal it more often when connections break and their last messages arrive late", async () => {
      const { url } = await makePostgresDatabase();
      await using proxy = await TcpProxy.inFrontOf({ port: Number(new URL(url).port) });
      const domains = await open({ DATABASE_URL: proxy.url(url) });
      const random = seededNumbers(0x1a7e);
      const verdicts: readonly Interception[] = ["deliver late", "lose answer", "lose request"];
      let late = 0;
      for (let round = 0; round < rounds; round += 1) {
        const urlToken = await createPush(domains, views);
        const lateBefore = late;
        proxy.intercept((statement) => {
          if (random() < 0.2) void proxy.deliverLate();
          if (!/UPDATE pushes SET views|^COMMIT/.test(statement)) return "pass";
          // About ten claims share a commit, so about every third commit is affected. The first one arrives late in any case.
          const drawn = random() < 0.04 ? (verdicts[Math.floor(random() * verdicts.length)] ?? "pass") : "pass";
          const verdict = late === 0 ? "deliver late" : drawn;
          if (verdict === "deliver late") late += 1;
          return verdict;
        });
        const faulty = await race(domains, urlToken);
        proxy.intercept(() => "pass");
        await proxy.deliverLate();
        const outcomes = [...faulty, ...(await race(domains, urlToken))];
        expect(counted(outcomes, "revealed")).toBeLessThanOrEqual(views);
        // A view that no client got was counted for a request that got 503, or is the known gap of decision 0030.
        const explained = counted(outcomes, "unknown") + (late - lateBefore);
        expect(counted(outcomes, "revealed") + explained).toBeGreaterThanOrEqual(views);
      }
      expect(late).toBeGreaterThan(0);
    });
  },
);
