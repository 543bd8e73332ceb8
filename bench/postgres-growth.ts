import { type ClaimPattern, seededRandom } from "./claim-choice.ts";
import type { RatePlan } from "./claim-rates.ts";
import { startDatabaseServer } from "./database-server.ts";
import type { Figure } from "./report.ts";
import { measureSerializedWriteRate } from "./serialized-write-rate.ts";
import { median } from "./statistics.ts";
import { type Segment, StoredRows } from "./stored-rows.ts";

type Pair = Readonly<Record<keyof RatePlan["sizes"], Segment>>;

const seed = 20_240_518;
const patterns = ["recent", "uniform"] as const;

/**
 * Claims per second on a small and on a large PostgreSQL database, in alternating segments. The statements are the
 * product's own, without HTTP and encryption, which would hide the growth. A checkpoint is requested only before the last
 * segment: the first change of a page after one writes the whole page to the log.
 */
export async function measurePostgresGrowth(
  folder: string,
  plan: RatePlan & { readonly serializedWritesMs: number },
): Promise<readonly Figure[]> {
  const server = await startDatabaseServer(undefined);
  try {
    const stored = {
      small: await StoredRows.make(server, folder, "small"),
      large: await StoredRows.make(server, folder, "large"),
    };
    const figures = await measure(stored, plan);
    const writeRate = await measureSerializedWriteRate(server, folder, plan.serializedWritesMs);
    await stored.small.close();
    await stored.large.close();
    return [...figures, { name: "PostgreSQL: serialized writes of two processes", value: writeRate, unit: "/s" }];
  } finally {
    await server.stop();
  }
}

async function measure(
  { small, large }: Readonly<Record<keyof RatePlan["sizes"], StoredRows>>,
  { sizes, segmentClaims, segments, warmUpSegments }: RatePlan,
): Promise<readonly Figure[]> {
  const extra = Math.ceil(segmentClaims / 2);
  const random = seededRandom(seed);
  const figures: Figure[] = [];
  await large.fillTo(sizes.large + extra);
  await large.vacuum();
  for (const [table, bytes] of await large.bytesPerPush()) {
    figures.push({ name: `PostgreSQL: ${table}, on disk for each push`, value: bytes, unit: "B" });
  }
  for (const pattern of patterns) {
    const pairs: Pair[] = [];
    for (let at = 0; at < warmUpSegments + segments; at += 1) {
      await small.fillTo(sizes.small + extra);
      await large.fillTo(sizes.large + extra);
      const pair = {
        small: await small.claim(pattern, segmentClaims, random),
        large: await large.claim(pattern, segmentClaims, random),
      };
      if (at >= warmUpSegments) pairs.push(pair);
    }
    figures.push(...figuresOf(pattern, pairs, sizes));
  }
  await large.checkpoint();
  const { logBytes } = await large.claim("uniform", segmentClaims, random);
  const name = `PostgreSQL, uniform: log written per claim at ${sizes.large} stored, right after a checkpoint`;
  const { ends, removals } = await large.sweep(Math.ceil(segmentClaims / 50));
  return [
    ...figures,
    { name, value: logBytes, unit: "B" },
    { name: "PostgreSQL: the sweeper of one process at work, pushes ended", value: ends.perSecond, unit: "/s" },
    { name: "PostgreSQL: database CPU per push ended", value: ends.databaseMicros, unit: "us" },
    { name: "PostgreSQL: the sweeper of one process at work, pushes removed", value: removals.perSecond, unit: "/s" },
    { name: "PostgreSQL: database CPU per push removed", value: removals.databaseMicros, unit: "us" },
  ];
}

function figuresOf(pattern: ClaimPattern, pairs: readonly Pair[], sizes: RatePlan["sizes"]): Figure[] {
  const name = `PostgreSQL, ${pattern}`;
  const of = (read: (pair: Pair) => number) => median(pairs.map(read));
  const goal = pattern === "recent" ? { wanted: { atLeast: 0.9 } } : {};
  const ratio = of(({ small, large }) => large.perSecond / small.perSecond);
  const each = (["small", "large"] as const).flatMap((size): Figure[] => {
    const at = `at ${sizes[size]} stored`;
    return [
      { name: `${name}: claims ${at}`, value: of((pair) => pair[size].perSecond), unit: "/s" },
      { name: `${name}: database CPU per claim ${at}`, value: of((pair) => pair[size].databaseMicros), unit: "us" },
      { name: `${name}: log written per claim ${at}`, value: of((pair) => pair[size].logBytes), unit: "B" },
    ];
  });
  return [{ name: `${name}: claim rate, large against small`, value: ratio, unit: "x", ...goal }, ...each];
}
