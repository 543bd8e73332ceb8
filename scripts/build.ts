import { buildAssets, buildServer } from "./bundles.ts";

await Promise.all([buildServer(), buildAssets({ removeOthers: true })]);
