import { describe, expect, it } from "vitest";
import { startTestApp } from "../support/app.ts";

describe("a file for browsers", () => {
  it("may be kept for ever, for its name changes with its content", async () => {
    await using app = await startTestApp();
    const answer = await app.server.inject("/assets/page.js");
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  });

  it("that is not there is unknown, and nobody may remember that", async () => {
    await using app = await startTestApp();
    const answer = await app.server.inject("/assets/of-the-next-version.js");
    expect(answer.statusCode).toBe(404);
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.headers.allow).toBeUndefined();
  });

  it.each(["..%2fmain.js", "%2e%2e%2fmain.js", "%00", "%5c..%5cmain.js", ".hidden"])(
    "that no build could name is unknown: %s",
    async (name) => {
      await using app = await startTestApp();
      const answer = await app.server.inject(`/assets/${name}`);
      expect([answer.statusCode, answer.headers["cache-control"]]).toEqual([404, "no-store"]);
    },
  );
});
