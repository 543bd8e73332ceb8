import { buildAssets, buildServer, isBuilt } from "./bundles.ts";

if (!process.argv.includes("--if-changed") || !(await isBuilt())) {
  await Promise.all([buildServer({ removeOthers: true }), buildAssets({ removeOthers: true })]);
}
