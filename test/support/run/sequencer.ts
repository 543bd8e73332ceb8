import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The order of files. Those with a process of their own come first, evenly mixed from all projects, so that some wait for timers
 * while others compute. Those that share a process are far shorter, so that all workers end at nearly the same time; they stay
 * together, because Vitest ends a shared process where the project changes.
 */
export default class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const ofProjects = new Map<string, TestSpecification[]>();
    for (const file of sorted) {
      if (!file.project.config.isolate) continue;
      const { name } = file.project;
      ofProjects.set(name, [...(ofProjects.get(name) ?? []), file]);
    }
    const mixed = [...ofProjects.values()]
      .flatMap((own) => own.map((file, at) => ({ file, position: at / own.length })))
      .toSorted((one, other) => one.position - other.position)
      .map(({ file }) => file);
    return [...mixed, ...sorted.filter(({ project }) => !project.config.isolate)];
  }
}
