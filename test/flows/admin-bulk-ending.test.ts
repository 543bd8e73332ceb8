import { expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { openAdministered } from "../support/administrators.ts";
import { password } from "../support/app.ts";

const { bulk } = en.admin;
const path = "/admin/pushes/end";
const filter = { network: "192.0.2.0/24", older_hours: "", larger_mib: "", owners: "all" };

async function openPushes() {
  const opened = await openAdministered();
  const { domain } = opened.fixture.app;
  const actor = { user: null, client: "", userAgent: "", referrer: "", ownOrigin: "" };
  const make = (address: string) => domain.pushes.create({ payload: "x".repeat(2_000) }, { ...actor, address });
  const flood = [await make("192.0.2.1"), await make("192.0.2.200")];
  const other = await make("198.51.100.1");
  const isLive = async (urlToken: string) =>
    (await domain.pushes.find(urlToken, { ...actor, address: "" }))?.expired === false;
  return { ...opened, flood, other, isLive };
}

const requests = ({ fixture }: Awaited<ReturnType<typeof openPushes>>) => fixture.app.domain.pushes.latestBulkEndings();

/** Waits for the background job. @returns how many pushes the request has ended. */
async function finished(opened: Awaited<ReturnType<typeof openPushes>>): Promise<number | undefined> {
  await expect.poll(async () => (await requests(opened))[0]?.finishedAt ?? null).not.toBeNull();
  return (await requests(opened))[0]?.ended;
}

test("a preview counts and ends nothing; the confirmed request ends what matches, and is in the log", async () => {
  const opened = await openPushes();
  const { root, flood, other, isLive, fixture } = opened;
  const preview = await root.get(`${path}?${new URLSearchParams(filter)}`);
  expect(preview.status).toBe(200);
  expect(preview.body).toContain(bulk.matching({ count: 2, size: en.formats.bytes(4_000) }));
  for (const { urlToken } of flood) expect(await isLive(urlToken)).toBe(true);

  expect(await root.post(path, filter)).toMatchObject({ status: 303, location: path });
  expect(await finished(opened)).toBe(2);
  for (const { urlToken } of flood) expect(await isLive(urlToken)).toBe(false);
  expect(await isLive(other.urlToken)).toBe(true);
  const after = await root.get(path);
  expect(after.body).toContain(bulk.progressOf({ count: 2, size: en.formats.bytes(4_000) }));
  expect(after.body).toContain(bulk.finished);
  const [entry] = await fixture.app.domain.accounts.listAdminEntries(1);
  expect(entry).toMatchObject({ action: "ended_pushes", subject: "network=192.0.2.0/24" });
  expect((await root.get("/admin/trail")).body).toContain("Deleted many pushes: network=192.0.2.0/24");
});

test("without a proof in an older session, nothing is ended", async () => {
  const opened = await openPushes();
  const { root, fixture, flood, isLive } = opened;
  fixture.clock.advance(11 * minuteMs);
  const preview = await root.get(`${path}?${new URLSearchParams(filter)}`);
  expect(preview.body).toContain('id="proof"');
  for (const proof of [{}, { proof: "wrong" }]) {
    const refused = await root.post(path, { ...filter, ...proof });
    expect(refused.status).toBe(422);
    expect(refused.body).toContain(en.factors.proof.wrong);
    expect(refused.body).toContain(`value="${filter.network}"`);
  }
  expect(await requests(opened)).toEqual([]);
  expect((await root.post(path, { ...filter, proof: password })).status).toBe(303);
  expect(await finished(opened)).toBe(2);
  for (const { urlToken } of flood) expect(await isLive(urlToken)).toBe(false);
});

test.each([
  [{ network: "" }, bulk.unrestricted],
  [{ network: "nowhere" }, bulk.badNetwork],
  [{ older_hours: "-1" }, en.problems.range({ min: 0, max: 999_999 })],
  [{ larger_mib: "1000000" }, en.problems.range({ min: 0, max: 999_999 })],
  [{ larger_mib: "1.5" }, en.problems.range({ min: 0, max: 999_999 })],
])("the filter %j is refused with a sentence", async (wrong, sentence) => {
  const opened = await openPushes();
  const sent = { ...filter, ...wrong };
  for (const answer of [
    await opened.root.get(`${path}?${new URLSearchParams(sent)}`),
    await opened.root.post(path, sent),
  ]) {
    expect(answer.status).toBe(422);
    expect(answer.body).toContain(sentence);
  }
  expect(await requests(opened)).toEqual([]);
});
