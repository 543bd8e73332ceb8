/**
 * Translates the regular expressions of Ruby, in which Password Pusher's settings are written. Both languages give some
 * texts different meanings: `[[:alnum:]]` is a class of letters and digits there and a class of six characters here, `$`
 * is the end of a line there and of the text here. So every construct is translated one by one, and one that is not known
 * to mean the same afterwards is refused.
 *
 * The translation answers whether a text matches, not what the groups match. Source: Onigmo, doc/RE (syntax ONIG_SYNTAX_RUBY).
 */

/** `reason`: a clause that names the construct. */
export type Translation =
  | { readonly ok: true; readonly pattern: RegExp }
  | { readonly ok: false; readonly reason: string };

class Unsupported extends Error {}

export function translateRubyRegExp(source: string): Translation {
  try {
    // The flag v allows classes within classes, and intersections.
    return { ok: true, pattern: new RegExp(new RubyRegExpTranslator(source).translate(), "v") };
  } catch (error) {
    if (error instanceof Unsupported) return { ok: false, reason: error.message };
    if (error instanceof SyntaxError) return { ok: false, reason: "it is not a valid regular expression" };
    throw error;
  }
}

/** The options that a group changes: `i`, and `m`, with which a dot matches a line end too. */
interface Options {
  readonly ignoreCase: boolean;
  readonly dotMatchesNewline: boolean;
}

interface Scope extends Options {
  /** A lookbehind is matched backwards, where an atomic group could not be translated. */
  readonly inLookbehind: boolean;
  readonly depth: number;
}

/** Members of a class. In Ruby, `\w`, `\d` and `\s` are ASCII, POSIX classes and properties are Unicode. */
const asciiClasses: Readonly<Record<string, string>> = {
  d: "0-9",
  h: "0-9a-fA-F",
  s: "\\t-\\r\\x20",
  w: "a-zA-Z0-9_",
};
const posixClasses: Readonly<Record<string, string>> = {
  alnum: "\\p{Alphabetic}\\p{Nd}",
  alpha: "\\p{Alphabetic}",
  ascii: "\\x00-\\x7f",
  blank: "\\p{Zs}\\t",
  cntrl: "\\p{Cc}",
  digit: "\\p{Nd}",
  lower: "\\p{Lowercase}",
  punct: "\\p{P}\\$\\+<=>\\^`\\|\\~",
  space: "\\p{White_Space}",
  upper: "\\p{Uppercase}",
  word: "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}",
  xdigit: "0-9a-fA-F",
};
const categories =
  "L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs Cc Cf Co".split(" ");
const scripts =
  "Arabic Armenian Bengali Cyrillic Devanagari Georgian Greek Han Hangul Hebrew Hiragana Katakana Latin Tamil Thai".split(
    " ",
  );
const properties = new Map([
  ...Object.entries(posixClasses),
  ...categories.map((name) => [name.toLowerCase(), `\\p{${name}}`] as const),
  ...scripts.map((name) => [name.toLowerCase(), `\\p{Script=${name}}`] as const),
]);

const controls: Readonly<Record<string, string>> = {
  a: "\u0007",
  e: "\u001b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

const depthMax = 50;
const repeatMax = 1_000;
const anyCharacter = "[\\p{Any}]";
const word = `[${posixClasses.word}]`;
const wordBoundary = `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`;

/** One parser for one source. Each method returns the translation of what it consumed. */
class RubyRegExpTranslator {
  /** Code points. */
  readonly #source: readonly string[];
  #at = 0;
  /** Only atomic groups capture in the translation. */
  #captures = 0;

  constructor(source: string) {
    this.#source = [...source];
  }

  translate(): string {
    const scope = { ignoreCase: false, dotMatchesNewline: false, inLookbehind: false, depth: 0 };
    const translated = this.#alternatives(scope);
    if (this.#next() !== undefined) throw new Unsupported("it closes a group that is not open");
    return translated;
  }

  #next(ahead = 0): string | undefined {
    return this.#source[this.#at + ahead];
  }

  #take(): string {
    const character = this.#next();
    if (character === undefined) throw new Unsupported("it ends within a construct");
    this.#at += 1;
    return character;
  }

  /** Consumes `text` if it comes next. */
  #skip(text: string): boolean {
    const characters = [...text];
    if (!characters.every((character, ahead) => this.#next(ahead) === character)) return false;
    this.#at += characters.length;
    return true;
  }

  /** Consumes what the pattern, which is anchored and matches ASCII only, matches here. */
  #match(pattern: RegExp): readonly string[] | undefined {
    const found = pattern.exec(this.#source.slice(this.#at, this.#at + 80).join(""));
    if (found === null) return undefined;
    this.#at += found[0].length;
    return found;
  }

  /** Up to the end of the group or of the source. */
  #alternatives(scope: Scope): string {
    if (scope.depth > depthMax) throw new Unsupported(`its groups are nested more than ${depthMax} deep`);
    let translated = "";
    for (let next = this.#next(); next !== undefined && next !== ")"; next = this.#next()) {
      translated += this.#skip("|") ? "|" : this.#quantified(scope);
    }
    return translated;
  }

  #group(scope: Scope): string {
    const translated = this.#alternatives({ ...scope, depth: scope.depth + 1 });
    if (!this.#skip(")")) throw new Unsupported("it has a group that is not closed");
    return translated;
  }

  #quantified(scope: Scope): string {
    const start = this.#at;
    let { text, repeatable } = this.#atom(scope);
    for (let quantifier = this.#quantifier(); quantifier !== undefined; quantifier = this.#quantifier()) {
      if (!repeatable) {
        const target = this.#source.slice(start, this.#at).join("");
        throw new Unsupported(`it repeats something that cannot be repeated (${shown(target)})`);
      }
      text = `(?:${text}${quantifier.text})`;
      if (quantifier.isPossessive) text = this.#atomic(text, scope);
      repeatable = true;
    }
    return text;
  }

  /** `{n}?` is an optional `{n}` in Ruby, and only `*`, `+` and `?` have possessive forms. */
  #quantifier(): { readonly text: string; readonly isPossessive: boolean } | undefined {
    const [, simple] = this.#match(/^([*+?])/) ?? [];
    if (simple !== undefined) {
      if (this.#skip("+")) return { text: simple, isPossessive: true };
      return { text: this.#skip("?") ? `${simple}?` : simple, isPossessive: false };
    }
    const [all, fixed, min = "", max = ""] = this.#match(/^\{(?:(\d+)|(\d*),(\d*))\}/) ?? [];
    if (all === undefined) return undefined;
    if (all === "{,}") throw new Unsupported("it contains {,}");
    for (const count of [fixed ?? "", min, max]) {
      if (Number(count) > repeatMax) throw new Unsupported(`it repeats something more than ${repeatMax} times`);
    }
    if (fixed !== undefined) return { text: `{${Number(fixed)}}`, isPossessive: false };
    if (max !== "" && Number(min) > Number(max))
      throw new Unsupported(`it has ${all}, whose bounds are in the wrong order`);
    const bounds = `{${Number(min)},${max === "" ? "" : Number(max)}}`;
    return { text: this.#skip("?") ? `${bounds}?` : bounds, isPossessive: false };
  }

  /** A lookahead is never entered a second time, so what its group matched is final. */
  #atomic(text: string, { inLookbehind }: Scope): string {
    if (inLookbehind) throw new Unsupported("it has an atomic group or a possessive quantifier in a lookbehind");
    this.#captures += 1;
    const name = `atomic${this.#captures}`;
    return `(?:(?=(?<${name}>${text}))\\k<${name}>)`;
  }

  #atom(scope: Scope): { text: string; repeatable: boolean } {
    const character = this.#take();
    switch (character) {
      case "(":
        return this.#parenthesis(scope);
      case "[":
        return { text: this.#characterClass(scope), repeatable: true };
      case ".":
        return { text: scope.dotMatchesNewline ? anyCharacter : "[^\\n]", repeatable: true };
      case "^":
        return { text: `(?:^|(?<=\\n)(?!$))`, repeatable: false };
      case "$":
        return { text: "(?=\\n|$)", repeatable: false };
      case "*":
      case "+":
      case "?":
        throw new Unsupported(`it has a ${character} that nothing precedes`);
      case "\\":
        return this.#escape(scope);
      default:
        return { text: literal(character, scope), repeatable: true };
    }
  }

  #parenthesis(scope: Scope): { text: string; repeatable: boolean } {
    const lookaround = this.#match(/^\?(<?[=!])/)?.[1];
    if (lookaround !== undefined) {
      const inLookbehind = scope.inLookbehind || lookaround.startsWith("<");
      return { text: `(?${lookaround}${this.#group({ ...scope, inLookbehind })})`, repeatable: false };
    }
    if (this.#skip("?>")) return { text: this.#atomic(this.#group(scope), scope), repeatable: true };
    if (this.#skip("?#")) {
      for (let next = this.#take(); next !== ")"; next = this.#take()) if (next === "\\") this.#take();
      return { text: "", repeatable: false };
    }
    const [options, on = "", off = "", end] = this.#match(/^\?([im]*)(?:-([im]*))?([:)])/) ?? [];
    if (options !== undefined) {
      const changed = {
        ...scope,
        ignoreCase: (scope.ignoreCase || on.includes("i")) && !off.includes("i"),
        dotMatchesNewline: (scope.dotMatchesNewline || on.includes("m")) && !off.includes("m"),
      };
      if (end === ":") return { text: `(?:${this.#group(changed)})`, repeatable: true };
      // It applies to the rest of the group, alternatives included: a(?i)b|c is a(?i:b|c).
      return { text: `(?:${this.#alternatives({ ...changed, depth: scope.depth + 1 })})`, repeatable: false };
    }
    const isNamed = this.#match(/^\?(?:<[A-Za-z_]\w*>|'[A-Za-z_]\w*')/) !== undefined;
    if (!isNamed && this.#next() === "?") {
      throw new Unsupported(`it contains (${this.#source.slice(this.#at, this.#at + 2).join("")}`);
    }
    return { text: `(?:${this.#group(scope)})`, repeatable: true };
  }

  #escape(scope: Scope): { text: string; repeatable: boolean } {
    const letter = this.#next();
    switch (letter) {
      case "A":
        this.#take();
        return { text: "^", repeatable: false };
      case "z":
        this.#take();
        return { text: "$", repeatable: false };
      case "Z":
        this.#take();
        return { text: "(?=\\n?$)", repeatable: false };
      case "b":
        this.#take();
        return { text: wordBoundary, repeatable: false };
      case "B":
        this.#take();
        return { text: `(?!${wordBoundary})`, repeatable: false };
    }
    const set = this.#set(scope);
    if (set !== undefined) return { text: `[${set}]`, repeatable: true };
    return { text: literal(this.#escapedCharacter(), scope), repeatable: true };
  }

  /** After a backslash: `\w`, `\p{...}` and so on. @returns what a class contains; undefined: it is a character. */
  #set({ ignoreCase }: Options): string | undefined {
    const letter = this.#match(/^[dhsw]/i)?.[0];
    if (letter !== undefined) return maybeNegated(asciiClasses[letter.toLowerCase()] ?? "", /[A-Z]/.test(letter));
    const [property, upper, caret, name = ""] = this.#match(/^([pP])\{(\^?)([\w -]{1,40})\}/) ?? [];
    if (property === undefined) return undefined;
    const members = properties.get(name.toLowerCase().replace(/[ _-]/g, ""));
    if (members === undefined) throw new Unsupported(`it contains \\${shown(property)}`);
    if (ignoreCase) throw new Unsupported(`it contains \\${shown(property)} and ignores case`);
    return maybeNegated(members, (upper === "P") !== (caret === "^"));
  }

  /** After a backslash. */
  #escapedCharacter(): string {
    const [, hex] =
      this.#match(/^(?:x([0-7][0-9a-fA-F])|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\})/)?.filter(Boolean) ?? [];
    if (hex !== undefined) {
      const code = Number.parseInt(hex, 16);
      if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new Unsupported(`it contains \\u${hex}`);
      return String.fromCodePoint(code);
    }
    const letter = this.#take();
    const control = Object.hasOwn(controls, letter) ? controls[letter] : undefined;
    if (control !== undefined) return control;
    if (/[\p{L}\p{N}]/u.test(letter)) throw new Unsupported(`it contains \\${letter}`);
    return letter;
  }

  /** After its bracket. */
  #characterClass(scope: Scope): string {
    if (scope.depth > depthMax) throw new Unsupported(`its classes are nested more than ${depthMax} deep`);
    const negation = this.#skip("^") ? "^" : "";
    if (this.#next() === "]") throw new Unsupported("it has a class that begins with ] without a backslash");
    const operands: string[] = [];
    let members = "";
    while (!this.#skip("]")) {
      if (this.#skip("&&")) {
        operands.push(members);
        members = "";
      } else {
        members += this.#classMember(scope);
      }
    }
    operands.push(members);
    if (operands.includes("")) throw new Unsupported("it has an empty class");
    return `[${negation}${operands.length === 1 ? members : operands.map((operand) => `[${operand}]`).join("&&")}]`;
  }

  #classMember(scope: Scope): string {
    const [posix, caret, name = ""] = this.#match(/^\[:(\^?)(\w+):\]/) ?? [];
    if (posix !== undefined) {
      const members = Object.hasOwn(posixClasses, name) ? posixClasses[name] : undefined;
      if (members === undefined) throw new Unsupported(`it contains ${shown(posix)}`);
      if (scope.ignoreCase && (name === "upper" || name === "lower")) {
        throw new Unsupported(`it contains ${posix} and ignores case`);
      }
      return maybeNegated(members, caret === "^");
    }
    if (this.#skip("[")) return this.#characterClass({ ...scope, depth: scope.depth + 1 });
    const isEscaped = this.#skip("\\");
    if (isEscaped) {
      const set = this.#set(scope);
      if (set !== undefined) return set;
    }
    const first = isEscaped ? this.#classEscape() : this.#take();
    // A hyphen at the end of a class, or before a nested one, is a character.
    if (this.#next() !== "-" || this.#next(1) === "]" || this.#next(1) === undefined)
      return members(first, first, scope);
    this.#take();
    if (this.#next() === "[" || (this.#next() === "&" && this.#next(1) === "&")) {
      throw new Unsupported("it has a hyphen in a class without a backslash");
    }
    const last = this.#skip("\\") ? this.#classEscape() : this.#take();
    return members(first, last, scope);
  }

  #classEscape(): string {
    return this.#skip("b") ? "\b" : this.#escapedCharacter();
  }
}

function maybeNegated(members: string, isNegated: boolean): string {
  return isNegated ? `[^${members}]` : members;
}

function shown(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}

/** As a member of a class or as a character of its own. */
function escaped(character: string): string {
  return /[A-Za-z0-9]/.test(character) ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function literal(character: string, options: Options): string {
  return options.ignoreCase ? `[${members(character, character, options)}]` : escaped(character);
}

/** The two letters outside ASCII that differ only in case from one in ASCII. */
const foldedToAscii: readonly (readonly [number, string])[] = [
  [0x6b, "\\u{212a}"],
  [0x73, "\\u{17f}"],
];

/** The characters from `first` to `last`, with those that differ in case only if case is ignored. */
function members(first: string, last: string, { ignoreCase }: Options): string {
  const [from = 0, to = 0] = [first.codePointAt(0), last.codePointAt(0)];
  if (from > to) throw new Unsupported("it has a class with a range in the wrong order");
  const range = from === to ? escaped(first) : `${escaped(first)}-${escaped(last)}`;
  if (!ignoreCase) return range;
  if (to > 0x7f) throw new Unsupported("it ignores case and contains characters outside ASCII");
  let others = "";
  for (let lower = 0x61; lower <= 0x7a; lower += 1) {
    const upper = lower - 0x20;
    const hasLower = from <= lower && lower <= to;
    const hasUpper = from <= upper && upper <= to;
    if (!hasLower && !hasUpper) continue;
    others += String.fromCodePoint(upper, lower);
    others += foldedToAscii.find(([ascii]) => ascii === lower)?.[1] ?? "";
  }
  return `${range}${others}`;
}
