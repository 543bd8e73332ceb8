import { parse } from "yaml";
import { drainSecondsMax, type Facts, type Image, settingProblems } from "./facts.ts";
import { at, entriesOf, type Tree, textOf } from "./tree.ts";

export interface ChartFiles {
  readonly chart: string;
  readonly values: string;
  readonly schema: string;
  /** File name -> text. */
  readonly templates: ReadonlyMap<string, string>;
}

/** Checks a chart without rendering it. */
export function chartProblems(files: ChartFiles, facts: Facts, image: Image): readonly string[] {
  const chart: Tree = parse(files.chart);
  const values: Tree = parse(files.values);
  const schema: Tree = JSON.parse(files.schema);
  const all = [...files.templates.values()].join("\n");
  const names = [...all.matchAll(/- name: ([A-Z][A-Z0-9_]+)$/gm)].map(([, name = ""]) => name);
  const secretNames = [...all.matchAll(/(?:hasKey|get) \.Values\.(?:secretSettings|settings) "(\w+)"/g)];
  return [
    ...["version", "appVersion"].flatMap((key) =>
      textOf(at(chart, key)) === facts.version ? [] : [`Chart.yaml: ${key} is not ${facts.version}.`],
    ),
    ...[...files.templates].flatMap(([name, text]) =>
      templateProblems(text, all).map((problem) => `${name}: ${problem}`),
    ),
    ...usedValues(all).flatMap((path) => valueProblems(path, values, schema)),
    ...undescribed(values, schema, []).map((path) => `values.schema.json: ${path} is missing.`),
    ...[...names, ...secretNames.map(([, name = ""]) => name)].flatMap((name) => settingProblems(name)),
    ...entriesOf(at(values, "secretSettings")).flatMap(([name]) => settingProblems(`${name}_FILE`, "/run/secret")),
    ...checkProblems(files.templates.get("_checks.tpl") ?? "", names),
    ...imageProblems(`${all}\n${files.values}`, image),
    ...(textOf(at(values, "persistence", "mountPath")) === image.dataDir ? [] : ["values.yaml: another data folder."]),
  ];
}

/** Each opened block is closed, and each included template exists. */
function templateProblems(text: string, all: string): readonly string[] {
  const problems: string[] = [];
  if (text.split("{{").length !== text.split("}}").length) problems.push("braces do not match.");
  let open = 0;
  for (const [, word = ""] of text.matchAll(/\{\{-?\s*(\w+)/g)) {
    if (["if", "with", "range", "define", "block"].includes(word)) open += 1;
    if (word === "end") open -= 1;
    if (open < 0) return [...problems, "there is a surplus end."];
  }
  if (open > 0) problems.push(`${open} blocks are not closed.`);
  for (const [, name = ""] of text.matchAll(/include "([^"]+)"/g)) {
    if (!all.includes(`define "${name}"`)) problems.push(`includes ${name}, which is not defined.`);
  }
  return problems;
}

/** Mistakes that Kubernetes accepts silently: of two variables with one name it uses the last, and a missing address means every address. */
function checkProblems(checks: string, ownNames: readonly string[]): readonly string[] {
  const refusesEveryone = checks.includes("and .Values.networkPolicy.enabled (not .Values.networkPolicy.from)");
  return [
    ...ownNames
      .filter((name) => !checks.includes(`"${name}" "`))
      .map((name) => `_checks.tpl: ${name} may also be in settings, and then occurs twice.`),
    ...(checks.includes('hasKey $.Values.settings (printf "%s_FILE" $name)')
      ? []
      : ["_checks.tpl: a setting may be in both settings and secretSettings."]),
    ...(checks.includes('(contains "/" .) (not (regexMatch "/(32|128)$" .)) (not $.Values.networkPolicy.enabled)')
      ? []
      : ["_checks.tpl: a whole network may be trusted as a proxy."]),
    ...(refusesEveryone ? [] : ["_checks.tpl: a network policy may let everybody in."]),
  ];
}

function usedValues(text: string): readonly string[] {
  const paths = [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = ""]) => path.replace(/\.$/, ""));
  return [...new Set(paths)];
}

function valueProblems(path: string, values: Tree, schema: Tree): readonly string[] {
  const keys = path.split(".");
  return [
    ...(at(values, ...keys) === undefined ? [`values.yaml: ${path} is used and missing.`] : []),
    ...(at(schema, ...keys.flatMap((key) => ["properties", key])) === undefined
      ? [`values.schema.json: ${path} is used and missing.`]
      : []),
  ];
}

/** Paths of values that the schema does not list. */
function undescribed(values: Tree, schema: Tree, path: readonly string[]): readonly string[] {
  if (at(schema, "properties") === undefined) return [];
  return entriesOf(values).flatMap(([key, value]) => {
    const below = at(schema, "properties", key);
    return below === undefined ? [[...path, key].join(".")] : undescribed(value, below, [...path, key]);
  });
}

function imageProblems(all: string, image: Image): readonly string[] {
  const [uid, gid] = image.user.split(":");
  const wanted: readonly (readonly [string, string])[] = [
    [`runAsUser: ${uid}`, "the user"],
    [`runAsGroup: ${gid}`, "the group"],
    [`fsGroup: ${gid}`, "the group of volumes"],
    [`containerPort: ${image.port}`, "the port"],
    ["mountPath: {{ .Values.persistence.mountPath }}\n", "the data folder"],
    ["mountPath: /tmp\n", "/tmp"],
    ["readOnlyRootFilesystem: true", "the read-only root file system"],
    ["runAsNonRoot: true", "the refusal of root"],
    ["allowPrivilegeEscalation: false", "the refusal of more privileges"],
    ["automountServiceAccountToken: false", "the refusal of a token of the cluster"],
    ["path: /up\n", "the liveness probe"],
    ["path: /ready\n", "the readiness probe"],
  ];
  const [, spareSeconds = "0"] = /shutdownGraceSeconds\) (\d+)/.exec(all) ?? [];
  return [
    ...wanted
      .filter(([text]) => !all.includes(text))
      .map(([text, what]) => `templates: ${what} (${text.trim()}) is missing.`),
    ...(Number(spareSeconds) > drainSecondsMax ? [] : ["templates: a pod is killed before it has stopped."]),
  ];
}
