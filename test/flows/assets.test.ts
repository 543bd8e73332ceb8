import { describe, expect, it } from "vitest";
import { startTestApp } from "../support/app.ts";

describe("a file for browsers", () => {
  it("may be cached forever, because its name changes with its content", async () => {
    await using app = await startTestApp();
    const answer = await app.server.inject("/assets/page.js");
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  });

  it("that does not exist is answered with 404, which must not be cached", async () => {
    await using app = await startTestApp();
    const answer = await app.server.inject("/assets/of-the-next-version.js");
    expect(answer.statusCode).toBe(404);
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.headers.allow).toBeUndefined();
  });

  it.each(["..%2fmain.js", "%2e%2e%2fmain.js", "%00", "%5c..%5cmain.js", ".hidden"])(
    "with a name that no build produces is answered with 404: %s",
    async (name) => {
      await using app = await startTestApp();
      const answer = await app.server.inject(`/assets/${name}`);
      expect([answer.statusCode, answer.headers["cache-control"]]).toEqual([404, "no-store"]);
    },
  );
});
