import { resolve } from "node:path";
import type { Plugin as EsbuildPlugin } from "esbuild";
import type { Plugin as VitePlugin } from "vite";

/**
 * In test builds this module replaces the one with the costs of Argon2id. The product has no branch for tests, and does not
 * know the numbers of the cheap parameter sets.
 */
const cheapCosts = resolve(import.meta.dirname, "../cheap-argon2-costs.ts");

/** As a module imports it. The cheap module itself imports the shipped one, whose address Vite then resolves once more. */
const isReplaced = (source: string, importer: string | undefined) =>
  /^\.{1,2}\/(?:.*\/)?argon2-costs\.ts$/.test(source) && importer?.split("?")[0] !== cheapCosts;

export const cheapCostsInBuild: EsbuildPlugin = {
  name: "cheap-costs",
  setup(build) {
    build.onResolve({ filter: /\/argon2-costs\.ts$/ }, ({ path, importer }) =>
      isReplaced(path, importer) ? { path: cheapCosts } : undefined,
    );
  },
};

export const cheapCostsInVitest: VitePlugin = {
  name: "cheap-costs",
  enforce: "pre",
  resolveId: (source, importer) => (isReplaced(source, importer) ? cheapCosts : undefined),
};
