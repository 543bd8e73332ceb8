import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemRandom } from "../../base/random.ts";
import type { Config } from "../../config/config.ts";
import { loadConfig } from "../../config/load-config.ts";
import { checkSpace, checkWritable } from "./check-disk.ts";

const gibibyte = 1024 ** 3;

function configOf(environment: Readonly<Record<string, string>>): Config {
  const loaded = loadConfig(environment, () => "");
  if (!loaded.ok) throw new Error(loaded.mistakes.join(" "));
  return loaded.config;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "sealpush-doctor-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

describe("checkWritable", () => {
  it("leaves no file behind, and checks the database's folder too", () => {
    const [data, other] = [folder(), folder()];
    expect(checkWritable(configOf({ DATA_DIR: data }), systemRandom)).toMatchObject([{ level: "ok" }]);
    const apart = configOf({ DATA_DIR: data, DATABASE_URL: `sqlite:${join(other, "sub", "a.sqlite3")}` });
    expect(checkWritable(apart, systemRandom)).toMatchObject([{ level: "ok" }, { level: "fail" }]);
    expect(readdirSync(data)).toEqual([]);
  });

  it("names the system's reason", () => {
    const file = join(folder(), "file");
    writeFileSync(file, "");
    expect(checkWritable(configOf({ DATA_DIR: file }), systemRandom)).toMatchObject([
      { level: "fail", sentence: expect.stringContaining("(ENOTDIR)") },
    ]);
  });
});

describe("checkSpace", () => {
  const space = async (freeGibibytes: number, totalGibibytes: number, environment = {}) => {
    const measured = { freeBytes: freeGibibytes * gibibyte, totalBytes: totalGibibytes * gibibyte };
    const [finding] = await checkSpace(configOf(environment), async () => measured);
    return finding?.level;
  };

  it("compares the free space with the configured minimum", async () => {
    expect(await space(3, 10)).toBe("ok");
    expect(await space(1.5, 10)).toBe("warn");
    expect(await space(0.9, 10)).toBe("fail");
    expect(await space(4, 100)).toBe("fail");
    expect(await space(0.9, 10, { PWP__DISK__FREE_MIN_BYTES: "1000" })).toBe("ok");
  });
});
