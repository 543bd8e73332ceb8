import type { ImportSource, SourcePush } from "@sealpush/import-password-pusher";
import { expect, test } from "vitest";
import { createDryDestination, nothingStored } from "./dry-destination.ts";
import { runImport } from "./run-import.ts";
import { noRelated } from "./source-values.ts";

const push: Omit<SourcePush, "id" | "urlToken"> = {
  kind: "text",
  userId: null,
  name: null,
  note: null,
  end: null,
  open: { payload: "the secret", passphrase: null, files: [] },
  expireAfterDays: 7,
  expireAfterViews: 5,
  countedViews: 0,
  deletableByViewer: true,
  retrievalStep: true,
  createdAt: 0,
  updatedAt: 0,
};

async function* none(): AsyncGenerator<never> {
  yield* [];
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Open pushes. @param auditEntries the reported length of each trail. @param onTrail gets the number of trails being read. */
function sourceOf(pushes: number, auditEntries: number, onTrail: (underWay: number) => void): ImportSource {
  let underWay = 0;
  const related = { ...noRelated, auditEntries };
  return {
    fingerprint: "test source",
    warnings: [],
    warn: () => undefined,
    counts: async () => ({ ...noRelated, users: 0, pushes, withoutPush: noRelated }),
    users: none,
    async *pushes() {
      for (let id = 1; id <= pushes; id += 1) {
        yield { outcome: "read", id, related, missingParts: [], row: { ...push, id, urlToken: `token${id}` } };
      }
    },
    async trail() {
      underWay += 1;
      onTrail(underWay);
      await turn();
      underWay -= 1;
      return { entries: [], missingParts: [] };
    },
    snapshot: async () => ({ tables: {}, identities: "" }),
    changesSince: async () => [],
    firstConfirmationEmailAt: async () => undefined,
    tryKeys: async () => ({ tried: 0, opened: 0, examples: [] }),
    readFile: none,
    styleSheet: async () => undefined,
    close: async () => undefined,
  };
}

test.each([
  ["long", 5_000, 1],
  ["short", 10, 16],
])("the number of %s trails in memory at once is bounded by their size", async (_, auditEntries, expected) => {
  let most = 0;
  const source = sourceOf(40, auditEntries, (underWay) => {
    most = Math.max(most, underWay);
  });
  const { results } = await runImport({
    source,
    destination: createDryDestination(nothingStored, source.fingerprint),
    options: { mergeUsers: false, withoutLostFiles: false, unconfirmedUsers: undefined },
    now: 1,
    signal: new AbortController().signal,
    onProgress: () => undefined,
    onProblem: () => undefined,
  });
  expect(results.counts.pushes.imported).toBe(40);
  expect(most).toBe(expected);
});
