import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ComposeProject } from "./compose.ts";
import { createPush, image, lab, openPush } from "./shared.ts";

const root = resolve(import.meta.dirname, "../..");
const origin = "http://127.0.0.1:5100";

describe.each(["compose.yaml", "deploy/compose/sqlite.yaml"])("%s", (path) => {
  const file = resolve(root, path);
  // The variable of the file at its default, which is the tag of the image that was built here.
  const project = new ComposeProject(lab, file, {});
  const server = project.container("sealpush");

  beforeAll(async () => {
    expect(readFileSync(file, "utf8")).toContain(image);
    await project.up();
    await project.healthy("sealpush");
  });
  afterAll(() => project.down());

  test("the server answers on the published port, its log has the boot code, and its volume the key", async () => {
    const token = await createPush(origin, "a secret");
    expect(await openPush(origin, token)).toBe("a secret");
    expect(await openPush(origin, token)).toBeNull();
    expect(await lab.logs(server)).toMatch(/boot.?code/i);
    expect((await lab.try("exec", server, "cat", "/data/master.key")).output).toMatch(/^[0-9a-f]{64}\n$/);
    expect((await lab.try("exec", server, "sealpush", "user", "list")).status).toBe(0);
  });

  test("the profile backup writes backups, from which a new volume is restored", async () => {
    const token = await createPush(origin, "kept");
    const name =
      (await project.runOnce("backup", ["once"]))
        .match(/\S+\.tar/)?.[0]
        ?.split("/")
        .at(-1) ?? "";
    expect(name).toMatch(/^[\d-]+\.tar$/);
    const key = (await lab.podman("exec", server, "cat", "/data/master.key")).trim();
    const volumes = ["--volume=restored:/data", `--volume=${project.container("backups")}:/backup:ro`];
    const restore = ["restore", "--from", `/backup/${name}`, "--keep-open"];
    const restored = await lab.run(image, restore, [...volumes, `--env=PWPUSH_MASTER_KEY=${key}`]);
    expect(restored.status, restored.output).toBe(0);
    await lab.start("restored", image, [
      "--volume=restored:/data",
      `--env=PWPUSH_MASTER_KEY=${key}`,
      "--publish=127.0.0.1:5200:5100",
    ]);
    try {
      await lab.healthy("restored");
      expect(await openPush("http://127.0.0.1:5200", token)).toBe("kept");
    } finally {
      await lab.remove(["restored"], ["restored"]);
    }
  });
});
