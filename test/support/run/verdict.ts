import { stripVTControlCharacters } from "node:util";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

const errorCharactersMax = 500;

/**
 * For `.ci/run`: repeats at the end of the output, of which often only the end is kept, what has failed and why in a few lines. Fails
 * the run when a test was skipped: `.ci/run` has every program that a test needs.
 */
export default class Verdict implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      const where = `${module.project.name} ${module.relativeModuleId}`;
      report(where, module.errors());
      for (const suite of module.children.allSuites()) report(`${where} > ${suite.fullName}`, suite.errors());
      for (const test of module.children.allTests()) {
        report(`${where} > ${test.fullName}`, test.result().errors ?? []);
        if (test.result().state !== "skipped") continue;
        console.error(`skipped: ${where} > ${test.fullName}`);
        process.exitCode = 1;
      }
    }
  }
}

function report(where: string, errors: readonly SerializedError[]): void {
  for (const { message } of errors) {
    console.error(`failed: ${where}: ${stripVTControlCharacters(message).slice(0, errorCharactersMax)}`);
  }
}
