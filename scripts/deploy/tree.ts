/** The content of a YAML or JSON file, of unknown shape. */
export type Tree = unknown;

/** The value below these keys; undefined if one is missing. */
export function at(tree: Tree, ...keys: readonly (string | number)[]): Tree {
  return keys.reduce<Tree>(
    (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
    tree,
  );
}

export function entriesOf(tree: Tree): readonly (readonly [string, Tree])[] {
  return typeof tree === "object" && tree !== null && !Array.isArray(tree) ? Object.entries(tree) : [];
}

export function listOf(tree: Tree): readonly Tree[] {
  return Array.isArray(tree) ? tree : [];
}

export function textOf(tree: Tree): string {
  return typeof tree === "string" || typeof tree === "number" || typeof tree === "boolean" ? String(tree) : "";
}
