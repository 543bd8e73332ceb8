import { describe, expect, it } from "vitest";
import { isNodeOutdated, isOlderVersion, pinnedPrograms } from "./pinned-programs.ts";

describe("isOlderVersion", () => {
  it.each([
    ["24.9.0", "24.17.0", true],
    ["24.17.0", "24.17.0", false],
    ["24.17.1", "24.17.0", false],
    ["17.9", "17.10", true],
    ["17.10", "17.10.1", true],
    ["3.0", "2.11.7", false],
  ])("%s against %s: %s", (version, than, expected) => {
    expect(isOlderVersion(version, than)).toBe(expected);
  });
});

describe("isNodeOutdated", () => {
  it.each([
    ["24.16.9", true],
    ["24.22.0", true],
    [pinnedPrograms.node.securityRelease, false],
    [pinnedPrograms.node.version, false],
    ["26.10.0", false],
  ])("judges Node %s: %s", (version, expected) => {
    expect(isNodeOutdated(version)).toBe(expected);
  });
});
