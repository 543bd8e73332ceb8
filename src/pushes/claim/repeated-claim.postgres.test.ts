import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger } from "../../../test/support/domain.ts";
import { pushDepsOf } from "../../../test/support/push-deps.ts";
import { claimOperations } from "./claim-view.ts";

test("a claim that is repeated because its answer was lost is counted once", async () => {
  await using fixture = await openTestDomain();
  const { store, pushes } = fixture.domain;
  const answers: boolean[] = [];
  const deps = pushDepsOf(fixture, {
    store: {
      ...store,
      async writeView(claim) {
        const claimed = await store.writeView(claim);
        answers.push((await store.writeView(claim)) !== undefined);
        return claimed;
      },
    },
  });
  for (const owner of [stranger, signedIn(7)]) {
    const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 3 }, owner);
    await claimOperations(deps).claimView(urlToken, countEveryone, stranger);
    await claimOperations(deps).claimView(urlToken, countEveryone, stranger);
  }
  expect(answers).toEqual([false, false, false, false]);
});
