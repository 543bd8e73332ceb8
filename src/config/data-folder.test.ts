import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../../test/support/folders.ts";
import { makeDataFolder } from "./data-folder.ts";

describe("the data folder", () => {
  it("is created once, with its parent folders, for its owner only", () => {
    const path = join(makeFolder(), "srv", "sealpush");
    makeDataFolder(path);
    makeDataFolder(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it("is refused in one sentence if its path is a file", () => {
    const file = join(makeFolder(), "file");
    writeFileSync(file, "");
    expect(() => makeDataFolder(file)).toThrow(`${file} is not a folder: check DATA_DIR.`);
    expect(() => makeDataFolder(join(file, "data"))).toThrow(/cannot be created \(not a folder\): check DATA_DIR\.$/);
  });

  it.runIf(process.platform === "linux")("is refused at once if its parent folder does not allow new folders", () => {
    expect(() => makeDataFolder("/proc/sealpush/data")).toThrow(
      /cannot be created \(no such file or folder\): check DATA_DIR\.$/,
    );
  });
});
