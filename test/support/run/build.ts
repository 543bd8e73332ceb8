import { existsSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { assetsDir, buildAssets, buildServer, buildServerInto, root, serverFile } from "../../../scripts/bundles.ts";
import { cheapCostsInBuild } from "./cheap-costs.ts";

/** Beside `dist`, so that it finds the same packages. */
const testBuildDir = join(root, "dist-test");

export interface Programs {
  /** What is shipped. */
  readonly shipped: string;
  /** The same with cheap password hashes. */
  readonly test: string;
}

/** @returns the start files. */
export async function buildForTests(): Promise<Programs> {
  const [test] = await Promise.all([
    buildServerInto(testBuildDir, [cheapCostsInBuild]),
    buildServer({ removeOthers: true }),
    buildAssets({ removeOthers: true }),
  ]);
  const assets = join(testBuildDir, "assets");
  if (!existsSync(assets)) symlinkSync(relative(testBuildDir, assetsDir), assets);
  return { test, shipped: serverFile };
}
