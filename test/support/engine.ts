/** Which engine this run of the tests is about: each project of `vitest.config.ts` sets one. */
export const engine: "sqlite" | "postgres" = process.env.SEALPUSH_TEST_ENGINE === "postgres" ? "postgres" : "sqlite";
