import { type Facts, type Image, settingProblems } from "./facts.ts";

/** Templates for platforms that no test runs: image, port, data folder and settings agree with the rest. */
export function templateProblems(text: string, { version }: Facts, image: Image): readonly string[] {
  const wanted: readonly (readonly [RegExp, string])[] = [
    [new RegExp(`sealpush:${version.replaceAll(".", "\\.")}["<\\n]`), `the image of ${version}`],
    [new RegExp(`\\b${image.port}\\b`), `the port ${image.port}`],
    [new RegExp(`[":]${image.dataDir}["\\n]`), `the data folder ${image.dataDir}`],
  ];
  return [
    ...wanted.filter(([pattern]) => !pattern.test(text)).map(([, what]) => `${what} is missing.`),
    ...[...text.matchAll(/\bPWP_\w+/g)].flatMap(([name]) => settingProblems(name)),
  ];
}
