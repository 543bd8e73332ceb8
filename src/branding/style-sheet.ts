import type { CssNode } from "css-tree";

/** `line` and `column` count from 1. */
export type StyleSheetProblem =
  | { readonly reason: "too_long"; readonly bytesMax: number }
  | {
      readonly reason: "unreadable" | "at_rule" | "function" | "address" | "property";
      readonly line: number;
      readonly column: number;
      /** The name of the rejected rule, function or property; "": it has none. */
      readonly name: string;
    };

const bytesMax = 64 * 1024;

const allowedAtRules: ReadonlySet<string> = new Set([
  "media",
  "supports",
  "layer",
  "container",
  "keyframes",
  "-webkit-keyframes",
  "starting-style",
]);

/** Functions that load from an address given as a string, or that run code. */
const refusedFunctions: ReadonlySet<string> = new Set([
  "url",
  "src",
  "image",
  "image-set",
  "-webkit-image-set",
  "cross-fade",
  "-webkit-cross-fade",
  "element",
  "-moz-element",
  "paint",
  "expression",
  "attr",
]);

const refusedProperties: ReadonlySet<string> = new Set(["behavior", "-ms-behavior", "-moz-binding"]);

type StyleSheetResult =
  | { readonly ok: true; readonly css: string }
  | { readonly ok: false; readonly problem: StyleSheetProblem };

/**
 * Checks an operator's style sheet and regenerates it from its syntax tree, so that nothing passes that was not parsed.
 * It must not name any address: a request for one could count a view, or reveal to another server who views a page.
 */
export async function readStyleSheet(text: string): Promise<StyleSheetResult> {
  if (Buffer.byteLength(text, "utf8") > bytesMax) return { ok: false, problem: { reason: "too_long", bytesMax } };
  // Loaded on demand: most servers never read a style sheet.
  const { generate, parse, walk } = await import("css-tree");
  let problem: StyleSheetProblem | undefined;
  const refuse = (found: StyleSheetProblem) => {
    problem ??= found;
  };
  const tree = parse(text, {
    positions: true,
    parseCustomProperty: true,
    // At the end of the text the parser reports no position.
    onParseError: ({ line, column }) =>
      refuse({ reason: "unreadable", line: line || 1, column: column || 1, name: "" }),
  });
  walk(tree, (node) => {
    const found = problemOf(node);
    if (found !== undefined) refuse({ ...found, ...startOf(node) });
  });
  return problem === undefined ? { ok: true, css: generate(tree) } : { ok: false, problem };
}

function startOf(node: CssNode): { line: number; column: number } {
  const { line = 1, column = 1 } = node.loc?.start ?? {};
  return { line, column };
}

type Found = { readonly reason: "unreadable" | "at_rule" | "function" | "address" | "property"; readonly name: string };

function problemOf(node: CssNode): Found | undefined {
  switch (node.type) {
    case "Url":
      return { reason: "address", name: "url" };
    case "Atrule":
      return allowedAtRules.has(node.name.toLowerCase()) ? undefined : { reason: "at_rule", name: shown(node.name) };
    case "Function": {
      const name = node.name.toLowerCase();
      return refusedFunctions.has(name) || name.includes("\\") ? { reason: "function", name: shown(name) } : undefined;
    }
    case "Declaration": {
      const name = node.property.toLowerCase();
      return refusedProperties.has(name) || name.includes("\\") ? { reason: "property", name: shown(name) } : undefined;
    }
    case "Raw":
      return node.value.trim() === "" ? undefined : { reason: "unreadable", name: "" };
    default:
      return undefined;
  }
}

function shown(name: string): string {
  return name.slice(0, 40);
}
