import { join } from "node:path";
import { expect, test } from "vitest";
import { AlternatingProxy } from "../support/alternating-proxy.ts";
import { bearer } from "../support/app.ts";
import { openDeployment } from "../support/deployment.ts";
import { makeUser, type Owner } from "../support/owner.ts";
import { runProgram } from "../support/processes.ts";

interface Moved {
  readonly owner: Owner;
  readonly from: string;
  readonly to: string;
  readonly urlTokens: readonly string[];
}

let moved: Moved | undefined;
const files = [
  { filename: "b.txt", data: btoa("file b") },
  { filename: "a.txt", data: btoa("file a") },
];

const deployment = openDeployment({
  files: "folder",
  async prepare(settings, launch) {
    const { DATA_DIR = "", DATABASE_URL: to = "" } = settings;
    const from = `sqlite:${join(DATA_DIR, "data.sqlite3")}`;
    const environment = { ...settings, DATABASE_URL: from };
    const server = await launch(environment);
    await using proxy = await AlternatingProxy.inFrontOf([server]);
    const owner = await makeUser({ environment, baseUrl: proxy.origin, email: "ada@example.com" });
    const urlTokens: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const made = await fetch(`${proxy.origin}/api/v2/pushes`, {
        method: "POST",
        body: JSON.stringify({ push: { payload: `secret ${count}`, files, expire_after_views: 3 } }),
        headers: { ...bearer(owner.apiToken), "content-type": "application/json" },
      });
      const { url_token: urlToken } = await made.json();
      // One view is used before the move.
      await (await fetch(`${proxy.origin}/api/v2/pushes/${urlToken}`)).arrayBuffer();
      urlTokens.push(urlToken);
    }
    await server.stop();
    const run = await runProgram(["move", "--from", from, "--to", to], environment);
    expect(run.exitCode, run.stderr).toBe(0);
    moved = { owner, from, to, urlTokens };
    return {};
  },
});

const movedData = () => {
  if (moved === undefined) throw new Error("Nothing was moved.");
  return moved;
};

let next = 0;
deployment.test(
  "a push of a server on SQLite is opened by both, with its files and what is left of its views",
  async () => {
    const at = next++;
    const path = `/api/v2/pushes/${movedData().urlTokens[at]}`;
    for (const left of [1, 0]) {
      const { body } = await deployment.api(path);
      expect(body).toMatchObject({ payload: `secret ${at}`, views_remaining: left });
      const contents: string[] = [];
      for (const { url } of body.files) contents.push(await (await deployment.fetch(deployment.pathOf(url))).text());
      expect(contents).toEqual(["file b", "file a"]);
    }
    for (const _ of ["each", "process"]) expect((await deployment.api(path)).body.payload).toBeNull();
  },
);

test("sessions and API tokens of the server on SQLite are valid at both", async () => {
  const { owner } = movedData();
  for (const _ of ["each", "process"]) {
    expect((await deployment.visit("/users/token", owner)).status).toBe(200);
    await deployment.visit("/", owner);
  }
  for (const _ of ["each", "process"]) {
    expect((await deployment.api("/api/v2/pushes/active", { headers: bearer(owner.apiToken) })).status).toBe(200);
  }
});

test("nothing moves away from both processes while they run, and they go on", async () => {
  const { to, from, urlTokens } = movedData();
  const refused = await deployment.run(["move", "--from", to, "--to", `${from}-back`]);
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringMatching(/2 process\(es\) used/)]);
  for (const urlToken of urlTokens.slice(2)) {
    expect((await deployment.api(`/api/v2/pushes/${urlToken}`)).status).toBe(200);
  }
});
