import { expect, test } from "vitest";
import { startTestApp } from "../support/app.ts";
import { pausedReader } from "../support/paused-reader.ts";

/** Each of these characters has six in JSON. */
const payload = "\u0001".repeat(1_048_576);

test.each(["/api/v2/pushes/", "/p/"])(
  "a retrieval by %s that the memory has no room for counts no view",
  async (path) => {
    await using app = await startTestApp({ memoryBytes: 256 * 1024 * 1024 });
    const origin = await app.listen();
    const created = await fetch(`${origin}/api/v2/pushes`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ push: { payload, expire_after_views: 10, retrieval_step: false } }),
    });
    const { url_token: token }: { url_token: string } = JSON.parse(await created.text());
    const held = () => app.server.answerOutflow.memory.held;

    const readers = [];
    for (const count of [1, 2]) {
      readers.push(await pausedReader(origin, `/api/v2/pushes/${token}`));
      await expect.poll(held).toBeGreaterThan(count * 6_000_000);
      await expect.poll(held).toBeLessThan(count * 7_000_000);
    }
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const refused = await fetch(`${origin}${path}${token}`);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
      await refused.text();
    }
    for (const reader of readers) reader.destroy();
    await expect.poll(held).toBe(0);
    const answer = await fetch(`${origin}/api/v2/pushes/${token}`);
    expect(await answer.json()).toMatchObject({ views_remaining: 7, payload });
  },
);
