import { inject } from "vitest";
import { askRun } from "./ask.ts";
import type { Programs } from "./build.ts";

const programs: Programs = JSON.parse(await askRun("POST", "programs"));

/** The built program that tests start; in tests of the costs the one that ships. */
export const program = process.env.SEALPUSH_TEST_COSTS === "shipped" ? programs.shipped : programs.test;

/** Nearly all of the time of a short command is compiling. The folder is one of this run, removed after it. */
export const compiledOnce = { NODE_COMPILE_CACHE: inject("compileCache") };
