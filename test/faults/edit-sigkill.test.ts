import { expect, it } from "vitest";
import { findDamage } from "../support/integrity-checks.ts";
import { editTo, fileIdsOf, makeOwner, type Owner, pushVersion, readVersion } from "../support/owner.ts";
import { newDataDir } from "../support/processes.ts";
import { roundsOf } from "../support/rounds.ts";
import { seededNumbers } from "../support/seeded-numbers.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

const rounds = roundsOf(8);
const pushCount = 12;

/** What its owner knows of a push: the last acknowledged word, and the word that was being sent at the kill. */
interface Known {
  readonly urlToken: string;
  readonly files: number;
  saved: string;
  pending: string | null;
}

/** Edits one push repeatedly until the kill. */
async function editUntilKilled(
  server: ServerProcess,
  owner: Owner,
  push: Known,
  killed: AbortSignal,
  onSaved: () => Promise<void>,
): Promise<void> {
  while (!killed.aborted) {
    try {
      const remove_files = push.files === 0 ? [] : await fileIdsOf(server.baseUrl, owner, push.urlToken);
      const word = `word-${crypto.randomUUID()}`;
      push.pending = word;
      const status = await editTo(server.baseUrl, owner, push.urlToken, {
        version: { word, files: push.files },
        more: { remove_files },
      });
      expect(status).toBe(303);
      push.saved = word;
      push.pending = null;
    } catch (error) {
      // A connection may break only because of the kill.
      if (!killed.aborted || !(error instanceof TypeError)) throw error;
      return;
    }
    await onSaved();
  }
}

it("SIGKILL during edits leaves every push retrievable, in its old or its new version", async () => {
  const random = seededNumbers(0xed17);
  const dataDir = newDataDir();
  const first = await startServer({ dataDir });
  const owner = await makeOwner(dataDir, first.baseUrl);
  const pushes = await Promise.all(
    Array.from({ length: pushCount }, async (_, at): Promise<Known> => {
      const files = at % 3 === 0 ? 2 : 0;
      const saved = `word-${at}`;
      const urlToken = await pushVersion(first.baseUrl, owner, { word: saved, files }, 100);
      return { urlToken, files, saved, pending: null };
    }),
  );
  let server = first;
  for (let round = 0; round < rounds; round += 1) {
    const killed = new AbortController();
    const editsMax = 20 + Math.floor(random() * 80);
    let edits = 0;
    const onSaved = async () => {
      edits += 1;
      if (edits !== editsMax) return;
      killed.abort();
      await server.kill();
    };
    await Promise.all(pushes.map((push) => editUntilKilled(server, owner, push, killed.signal, onSaved)));
    server = await startServer({ dataDir });
    for (const push of pushes) {
      const word = await readVersion(server.baseUrl, push.urlToken);
      expect([push.saved, push.pending]).toContain(word);
      push.saved = word;
      push.pending = null;
    }
  }
  for (const push of pushes) {
    const answer = await fetch(`${server.baseUrl}/api/v2/pushes/${push.urlToken}`);
    const { files = [] } = (await answer.json()) as { files?: readonly { readonly url: string }[] };
    expect(files).toHaveLength(push.files);
    for (const { url } of files) expect(await (await fetch(url)).text()).toBe(push.saved);
  }
  expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
  expect(await findDamage(dataDir)).toEqual([]);
});
