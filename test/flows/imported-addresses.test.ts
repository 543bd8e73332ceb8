import { expect, test } from "vitest";
import { createDomainDestination } from "../../src/import/domain-destination.ts";
import { noRelated } from "../../src/import/source-values.ts";
import { importedOptions } from "../../src/pushes/push-options.ts";
import { startTestApp } from "../support/app.ts";
import { testEffects } from "../support/domain.ts";

const urlToken = "an-imported-link";

test.each([
  ["javascript:alert(1)", undefined],
  ["data:text/html,hello", undefined],
  ["https://exa mple.com/", undefined],
  ["nothing of an address", undefined],
  ["https://example.com/ä", "https://example.com/%C3%A4"],
  ["http://example.com/a?b#c", "http://example.com/a?b#c"],
])("an imported push of the address %s leads to %s, and its counted view is answered", async (payload, location) => {
  await using fixture = await startTestApp();
  const { domain } = fixture.app;
  const now = fixture.clock.now();
  const imported = await createDomainDestination(domain, testEffects(fixture.clock), "another server").importPush({
    sourceId: 1,
    missingParts: [],
    related: noRelated,
    push: {
      ...{ urlToken, kind: "url", ownerId: null, name: "", note: "", end: null },
      open: { payload, passphrase: "", files: [] },
      ...{ expireAfterDays: 7, expireAfterViews: 2, views: 0, refusals: 0, createdAt: now, updatedAt: now, trail: [] },
      ...importedOptions({ deletableByViewer: false, retrievalStep: false }),
    },
  });
  expect(imported).toMatchObject({ outcome: "imported" });
  const answer = await fixture.server.inject({ url: `/p/${urlToken}` });
  expect([answer.statusCode, answer.headers.location]).toEqual([location === undefined ? 200 : 303, location]);
  if (location === undefined) {
    expect(answer.body).toContain(payload);
    expect(answer.body).not.toMatch(/href="(?:javascript|data):/);
  }
});
