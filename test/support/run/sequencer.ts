import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Many short files. After all others they keep every worker busy until nearly the same time. */
const projectsOfShortFiles: readonly string[] = ["flows", "postgres", "unit"];

/**
 * The order of files. Those with a process of their own come first, evenly mixed from all projects, so that some wait for timers
 * while others compute. Those that share a process stay together, because Vitest ends a shared process where the project changes.
 */
export default class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const ofProjects = Map.groupBy(
      sorted.filter(({ project }) => project.config.isolate),
      ({ project }) => project.name,
    );
    const mixed = [...ofProjects.values()]
      .flatMap((own) => own.map((file, at) => ({ file, position: at / own.length })))
      .toSorted((one, other) => one.position - other.position)
      .map(({ file }) => file);
    const sharing = sorted.filter(({ project }) => !project.config.isolate);
    const isShort = ({ project }: TestSpecification) => projectsOfShortFiles.includes(project.name);
    return [...mixed, ...sharing.filter((file) => !isShort(file)), ...sharing.filter(isShort)];
  }
}
