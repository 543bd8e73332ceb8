/**
 * Translates the regular expressions of Ruby, in which Password Pusher's settings are written. Both languages give some
 * texts different meanings: `[[:alnum:]]` is a class of letters and digits there and a class of six characters here, `$`
 * is the end of a line there and of the text here. So every construct is translated one by one. One setting uses them, for
 * email addresses: what such a pattern does not need is refused.
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

interface Scope {
  /** The option that a group changes. */
  readonly ignoreCase: boolean;
  readonly depth: number;
}

/** Members of a class. In Ruby, `\w`, `\d` and `\s` are ASCII, and POSIX classes are Unicode. */
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
const depthMax = 50;
const repeatMax = 1_000;

/** One parser for one source. Each method returns the translation of what it consumed. */
class RubyRegExpTranslator {
  /** Code points. */
  readonly #source: readonly string[];
  #at = 0;

  constructor(source: string) {
    this.#source = [...source];
  }

  translate(): string {
    const translated = this.#alternatives({ ignoreCase: false, depth: 0 });
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
      text = `(?:${text}${quantifier})`;
      repeatable = true;
    }
    return text;
  }

  /** `{n}?` is an optional `{n}` in Ruby. */
  #quantifier(): string | undefined {
    const [, simple] = this.#match(/^([*+?])/) ?? [];
    if (simple !== undefined) {
      if (this.#next() === "+") throw new Unsupported(`it contains the possessive quantifier ${simple}+`);
      return this.#skip("?") ? `${simple}?` : simple;
    }
    const [all, fixed, min = "", max = ""] = this.#match(/^\{(?:(\d+)|(\d*),(\d*))\}/) ?? [];
    if (all === undefined) return undefined;
    if (all === "{,}") throw new Unsupported("it contains {,}");
    for (const count of [fixed ?? "", min, max]) {
      if (Number(count) > repeatMax) throw new Unsupported(`it repeats something more than ${repeatMax} times`);
    }
    if (fixed !== undefined) return `{${Number(fixed)}}`;
    if (max !== "" && Number(min) > Number(max))
      throw new Unsupported(`it has ${all}, whose bounds are in the wrong order`);
    const bounds = `{${Number(min)},${max === "" ? "" : Number(max)}}`;
    return this.#skip("?") ? `${bounds}?` : bounds;
  }

  #atom(scope: Scope): { text: string; repeatable: boolean } {
    const character = this.#take();
    switch (character) {
      case "(":
        return this.#parenthesis(scope);
      case "[":
        return { text: this.#characterClass(scope), repeatable: true };
      case ".":
        return { text: "[^\\n]", repeatable: true };
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
    if (lookaround !== undefined) return { text: `(?${lookaround}${this.#group(scope)})`, repeatable: false };
    const [options, on = "", off = "", end] = this.#match(/^\?(i*)(?:-(i*))?([:)])/) ?? [];
    if (options !== undefined) {
      const changed = { ...scope, ignoreCase: (scope.ignoreCase || on !== "") && off === "" };
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
    }
    const set = this.#set();
    if (set !== undefined) return { text: `[${set}]`, repeatable: true };
    return { text: literal(this.#escapedCharacter(), scope), repeatable: true };
  }

  /** After a backslash: `\w` and so on. @returns what a class contains; undefined: it is a character. */
  #set(): string | undefined {
    const letter = this.#match(/^[dhsw]/i)?.[0];
    if (letter === undefined) return undefined;
    return maybeNegated(asciiClasses[letter.toLowerCase()] ?? "", /[A-Z]/.test(letter));
  }

  /** After a backslash. */
  #escapedCharacter(): string {
    const letter = this.#take();
    if (/[\p{L}\p{N}]/u.test(letter)) throw new Unsupported(`it contains \\${letter}`);
    return letter;
  }

  /** After its bracket. */
  #characterClass(scope: Scope): string {
    const negation = this.#skip("^") ? "^" : "";
    if (this.#next() === "]") throw new Unsupported("it has a class that begins with ] without a backslash");
    let members = "";
    while (!this.#skip("]")) members += this.#classMember(scope);
    if (members === "") throw new Unsupported("it has an empty class");
    return `[${negation}${members}]`;
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
    if (this.#next() === "[") throw new Unsupported("it has a class within a class");
    if (this.#next() === "&" && this.#next(1) === "&") throw new Unsupported("it contains &&");
    const isEscaped = this.#skip("\\");
    if (isEscaped) {
      const set = this.#set();
      if (set !== undefined) return set;
    }
    const first = isEscaped ? this.#escapedCharacter() : this.#take();
    // A hyphen at the end of a class, or before a nested one, is a character.
    if (this.#next() !== "-" || this.#next(1) === "]" || this.#next(1) === undefined)
      return members(first, first, scope);
    this.#take();
    if (this.#next() === "[" || (this.#next() === "&" && this.#next(1) === "&")) {
      throw new Unsupported("it has a hyphen in a class without a backslash");
    }
    const last = this.#skip("\\") ? this.#escapedCharacter() : this.#take();
    return members(first, last, scope);
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

function literal(character: string, options: Pick<Scope, "ignoreCase">): string {
  return options.ignoreCase ? `[${members(character, character, options)}]` : escaped(character);
}

/** The two letters outside ASCII that differ only in case from one in ASCII. */
const foldedToAscii: readonly (readonly [number, string])[] = [
  [0x6b, "\\u{212a}"],
  [0x73, "\\u{17f}"],
];

/** The characters from `first` to `last`, with those that differ in case only if case is ignored. */
function members(first: string, last: string, { ignoreCase }: Pick<Scope, "ignoreCase">): string {
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
