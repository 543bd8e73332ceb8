import { beforeAll, describe, expect, it } from "vitest";
import { editTo, fileIdsOf, makeOwner, type Owner, pushVersion, readVersion } from "../support/owner.ts";
import { roundsOf } from "../support/rounds.ts";
import { shareServers } from "../support/shared-servers.ts";

const rounds = roundsOf(8);
const racers = 24;

/** Retries while the push is being changed: an edit never refuses a reader permanently. */
async function read(baseUrl: string, urlToken: string): Promise<string> {
  for (;;) {
    const found = await readVersion(baseUrl, urlToken);
    if (found !== "unavailable") return found;
  }
}

async function readToTheEnd(baseUrl: string, urlToken: string): Promise<string[]> {
  const messages: string[] = [];
  for (;;) {
    const word = await read(baseUrl, urlToken);
    if (word === "gone") return messages;
    messages.push(word);
  }
}

describe.each([
  { name: "one process", processes: 1 },
  { name: "two processes on one database", processes: 2 },
])("edits during retrievals, in $name", ({ processes }) => {
  const { dataDir, urlOf: at } = shareServers(processes);
  let owner: Owner;
  beforeAll(async () => {
    owner = await makeOwner(dataDir, at(0));
  });

  it.each([0, 2])(
    "each view has the content of one version (with %i files), the limit holds, and the link stays valid",
    async (files) => {
      for (let round = 0; round < rounds; round += 1) {
        const views = racers + 4;
        const first = `first-${round}`;
        const urlToken = await pushVersion(at(0), owner, { word: first, files }, views);
        const remove_files = await fileIdsOf(at(0), owner, urlToken);
        const messages = ["second", "third", "fourth"].map((word) => `${word}-${round}`);
        const readings = Array.from({ length: racers }, (_, index) => read(at(index), urlToken));
        const statuses = await Promise.all(
          messages.map((word, index) =>
            editTo(at(index), owner, urlToken, { version: { word, files }, more: { remove_files } }),
          ),
        );
        const opened = await Promise.all(readings);
        expect(new Set(statuses.filter((status) => status !== 303 && status !== 409))).toEqual(new Set());
        const saved = messages.filter((_, index) => statuses[index] === 303);
        expect(saved.length).toBeGreaterThan(0);
        // Only one of the versions that remove the same files can win.
        if (files > 0) expect(saved).toHaveLength(1);
        expect([first, ...saved]).toEqual(expect.arrayContaining([...new Set(opened)]));
        const left = await readToTheEnd(at(1), urlToken);
        expect(opened.length + left.length).toBe(views);
        expect(new Set(left).size).toBe(1);
        expect(saved).toContain(left[0]);
      }
    },
  );

  it("a limit lowered during retrievals is never exceeded, whichever write comes first", async () => {
    const won = new Set<string>();
    for (let round = 0; round < rounds; round += 1) {
      const urlToken = await pushVersion(at(0), owner, { word: "word", files: 0 }, 20);
      // From none to more than the lowered limit, in however many rounds.
      const length = Math.round((11 * round) / Math.max(1, rounds - 1));
      const readings = Array.from({ length }, (_, index) => read(at(index), urlToken));
      // The first and the last round do not race: each side wins once.
      if (round === rounds - 1) await Promise.all(readings);
      const status = await editTo(at(1), owner, urlToken, {
        version: { word: "", files: 0 },
        more: { expire_after_views: "6" },
      });
      const opened = (await Promise.all(readings)).filter((word) => word === "word");
      const left = await readToTheEnd(at(0), urlToken);
      won.add(status === 303 ? "edit" : "views");
      expect([303, 422]).toContain(status);
      expect(opened.length + left.length).toBe(status === 303 ? 6 : 20);
    }
    expect(won).toEqual(new Set(["edit", "views"]));
  });
});
