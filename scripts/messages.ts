import {
  isArgumentElement,
  isLiteralElement,
  isNumberElement,
  isPluralElement,
  isPoundElement,
  type MessageFormatElement,
  type PluralElement,
  parse,
} from "@formatjs/icu-messageformat-parser";
import type { MessageTree } from "../src/i18n/messages.ts";

/** Name -> type of the value that a page passes. */
type Placeholders = ReadonlyMap<string, "string" | "number">;

interface ParsedMessage {
  readonly placeholders: Placeholders;
  readonly problems: readonly string[];
}

/** @returns messages by their path, "section.key". */
function messagesByPath(tree: MessageTree, prefix = ""): Map<string, string> {
  const entries = Object.entries(tree).flatMap(([key, node]) =>
    typeof node === "string" ? [[prefix + key, node] as const] : [...messagesByPath(node, `${prefix}${key}.`)],
  );
  return new Map(entries);
}

function parseMessage(text: string, categories: readonly string[]): ParsedMessage {
  try {
    return readElements(parse(text, { ignoreTag: true }), categories);
  } catch (error) {
    return {
      placeholders: new Map(),
      problems: [`invalid ICU syntax: ${error instanceof Error ? error.message : error}`],
    };
  }
}

/** Only the ICU syntax that src/i18n/messages.ts formats: text arguments, `number` without a style, and `plural`. */
function readElements(elements: readonly MessageFormatElement[], categories: readonly string[]): ParsedMessage {
  const placeholders = new Map<string, "string" | "number">();
  const problems: string[] = [];
  for (const element of elements) {
    if (isLiteralElement(element) || isPoundElement(element)) continue;
    if (isPluralElement(element) && element.pluralType === "cardinal") {
      const plural = readPlural(element, categories);
      problems.push(...plural.problems);
      for (const [name, type] of plural.placeholders) placeholders.set(name, type);
    } else if (isArgumentElement(element)) placeholders.set(element.value, "string");
    else if (isNumberElement(element) && element.style == null) placeholders.set(element.value, "number");
    else problems.push(`{${element.value}} has a type or style that is not supported`);
  }
  return { placeholders, problems };
}

function readPlural({ value: name, options }: PluralElement, categories: readonly string[]): ParsedMessage {
  const forms = Object.entries(options).map(([category, { value }]) => ({
    category,
    ...readElements(value, categories),
  }));
  const given = new Set(Object.keys(options));
  const problems = [
    ...forms.flatMap((form) => form.problems),
    ...categories.filter((category) => !given.has(category)).map((category) => `missing plural form "${category}"`),
    ...[...given].filter((category) => !categories.includes(category)).map((form) => `surplus plural form "${form}"`),
  ];
  const placeholders = new Map(forms.flatMap((form) => [...form.placeholders]));
  for (const form of forms) {
    const missing = [...placeholders.keys()].filter((other) => other !== name && !form.placeholders.has(other));
    problems.push(...missing.map((other) => `plural form "${form.category}" lacks {${other}}`));
  }
  return { placeholders: placeholders.set(name, "number"), problems };
}

/**
 * @param tag decides by CLDR which plural forms the messages must have.
 * @returns one sentence for each mistake in the messages of one language; none when they fit the English ones.
 */
export function findMessageProblems(tag: string, tree: MessageTree, english: MessageTree): readonly string[] {
  const { pluralCategories: categories } = new Intl.PluralRules(tag).resolvedOptions();
  const messages = messagesByPath(tree);
  const originals = messagesByPath(english);
  const problems: string[] = [];
  for (const path of originals.keys()) if (!messages.has(path)) problems.push(`${path}: missing`);
  for (const [path, text] of messages) {
    const original = originals.get(path);
    if (original === undefined) {
      problems.push(`${path}: not in English`);
      continue;
    }
    if (text === "" || text !== text.trim()) problems.push(`${path}: empty, or with spaces around it`);
    if (tag !== "en" && text === original && /\w \w+ \w/.test(text)) problems.push(`${path}: not translated`);
    if (tag === "fr" && / [:;!?»]|« /.test(text)) problems.push(`${path}: a line may break before its punctuation`);
    const message = parseMessage(text, categories);
    const wanted = parseMessage(original, new Intl.PluralRules("en").resolvedOptions().pluralCategories).placeholders;
    problems.push(...message.problems.map((problem) => `${path}: ${problem}`));
    for (const [name, type] of wanted) {
      if (message.placeholders.get(name) === type) continue;
      problems.push(`${path}: needs {${name}} as a ${type}`);
    }
    for (const name of message.placeholders.keys()) {
      if (!wanted.has(name)) problems.push(`${path}: {${name}} is not in English`);
    }
  }
  return problems;
}

/** @returns the TypeScript types of the values that the messages take, from the English ones. */
export function messageValues(english: MessageTree): string {
  const categories = new Intl.PluralRules("en").resolvedOptions().pluralCategories;
  const lines = [...messagesByPath(english)].flatMap(([path, text]) => {
    const values = [...parseMessage(text, categories).placeholders].map(([name, type]) => `${name}: ${type}`);
    return values.length === 0 ? [] : [`  readonly "${path}": { ${values.join("; ")} };\n`];
  });
  return `// Made from messages/en.json by "npm run docs".

/** By the path of the message. Those that take none are missing. */
export interface MessageValues {
${lines.join("")}}
`;
}
