export type Problems = Record<string, string[]>;

export function addProblem(problems: Problems, field: string, message: string): void {
  const list = problems[field] ?? [];
  list.push(message);
  problems[field] = list;
}
