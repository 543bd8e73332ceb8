import { expect, test, vi } from "vitest";
import { openTestDomain, signedIn } from "../../test/support/domain.ts";
import { readRows } from "../../test/support/engine-database.ts";
import { filesIn, NeedleFinder } from "../../test/support/raw-files.ts";

const accounts = 40;

test("a link secret that was replaced is in no file of the database any more", async () => {
  await using fixture = await openTestDomain();
  const { db, pushes, storedLinkKeys } = fixture.domain;
  // Ids as they are drawn: in no order.
  const ids = Array.from({ length: accounts }, (_, at) => ((at * 7_919) % 1_009) * 2 ** 36 + at + 1);
  for (const id of ids) await pushes.create({ payload: "x" }, signedIn(id));
  const finder = new NeedleFinder<string>();
  const secrets = await readRows<{ userId: number; sealed: Buffer }>(
    db,
    "SELECT user_id AS userId, sealed FROM link_secret_users JOIN link_secrets ON link_secrets.id = link_secret_id",
  );
  expect(secrets).toHaveLength(accounts);
  for (const { userId, sealed } of secrets) finder.add(String(userId), sealed);
  const found = () => new Set([...filesIn(fixture.dataDir).values()].flatMap((bytes) => [...finder.search(bytes)]));
  expect(found().size).toBe(accounts);
  const replaced = new Set(ids.filter((_, at) => at % 3 === 0).map(String));
  for (const id of replaced) await db.write((tx) => storedLinkKeys.destroy(tx, Number(id)));
  const isLeft = () => {
    const left = found();
    return [...replaced].some((id) => left.has(id));
  };
  await vi.waitUntil(() => !isLeft(), { timeout: 60_000 });
  expect(found().size).toBe(accounts - replaced.size);
});
