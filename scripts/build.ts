import { buildAssets, buildServer } from "./bundles.ts";

await Promise.all([buildServer({ removeOthers: true }), buildAssets({ removeOthers: true })]);
