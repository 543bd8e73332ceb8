import { chownSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ComposeProject } from "./compose.ts";
import { createPush, image, lab, openPush } from "./shared.ts";

/** The default of the file: Caddy makes the certificate itself. */
const origin = "https://localhost";
const visit = ["--insecure", "--noproxy", "*"];

/** The compose files with the three secrets that the guide makes. */
async function prepare(): Promise<string> {
  const folder = join(lab.folder, "files/compose");
  cpSync(resolve(import.meta.dirname, "../../deploy/compose"), folder, { recursive: true });
  const secrets = join(folder, "secrets");
  mkdirSync(secrets);
  const write = (name: string, content: string, user: number) => {
    writeFileSync(join(secrets, name), content, { mode: 0o400 });
    chownSync(join(secrets, name), user, user);
  };
  write("master.key", (await lab.run(image, ["keys", "generate"])).output, 1000);
  write("postgres-password", "worthless\n", 999);
  write("database-url", "postgres://sealpush:worthless@postgres/sealpush\n", 1000);
  return folder;
}

test("with postgres.yaml, both processes are replaced under load and every push opens exactly once", async () => {
  const project = new ComposeProject(lab, join(await prepare(), "postgres.yaml"), {
    PWP__THROTTLING__MINUTE: "unlimited",
    PWP__THROTTLING__SECOND: "unlimited",
  });
  onTestFinished(() => project.down());
  await project.up();
  await untilServed(project);
  let isReplaced = false;
  const problems: string[] = [];
  let opened = 0;
  const load = (async () => {
    for (let number = 0; !isReplaced; number += 1) {
      try {
        const payload = `secret ${number}`;
        const token = await createPush(origin, payload, visit);
        if ((await openPush(origin, token, visit)) !== payload) problems.push(`${number}: does not open`);
        if ((await openPush(origin, token, visit)) !== null) problems.push(`${number}: opened twice`);
        opened += 1;
      } catch (error) {
        problems.push(`${number}: ${String(error)}`);
      }
    }
  })();
  for (const name of ["sealpush-1", "sealpush-2"]) await project.replace(name);
  isReplaced = true;
  await load;
  expect(problems).toEqual([]);
  expect(opened).toBeGreaterThan(5);
});

/** Caddy has no health check of its own: it answers 502 or 503 until it has found a process that is ready. */
async function untilServed(project: ComposeProject): Promise<void> {
  for (;;) {
    try {
      await createPush(origin, "first", visit);
      return;
    } catch (error) {
      const state = await lab.podman("inspect", project.container("caddy"), "--format", "{{.State.Status}}");
      if (state.trim() !== "running") throw error;
      await new Promise((resolve_) => setTimeout(resolve_, 300));
    }
  }
}
