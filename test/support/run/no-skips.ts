import type { Reporter, TestModule } from "vitest/node";

/** Fails the run when a test was skipped: `.ci/run` has every program that a test needs. */
export default class NoSkips implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      for (const test of module.children.allTests("skipped")) {
        console.error(`skipped: ${module.project.name} ${module.relativeModuleId} > ${test.fullName}`);
        process.exitCode = 1;
      }
    }
  }
}
