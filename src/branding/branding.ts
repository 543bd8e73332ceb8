import { type Clock, secondMs } from "../base/clock.ts";
import { digest } from "../crypto/digests.ts";
import type { Database } from "../db/sqlite.ts";
import { endingOf, type LogoType, logoBytesMax, logoTypeOf } from "./logo.ts";
import { type BrandingPart, createBrandingStore, type StoredPart } from "./sqlite/branding.ts";
import { readStyleSheet, type StyleSheetProblem } from "./style-sheet.ts";

export { logoBytesMax } from "./logo.ts";
export { type BrandingPart, brandingParts } from "./sqlite/branding.ts";
export type { StyleSheetProblem } from "./style-sheet.ts";

/** A file of the instance's own look. Its name changes with its content, so browsers may keep it. */
export interface BrandingFile {
  readonly filename: string;
  readonly contentType: LogoType | "text/css; charset=utf-8";
  readonly content: Buffer;
}

/** How this instance calls itself and looks; undefined parts are ours. */
export interface Look {
  readonly name: string | undefined;
  readonly logo: BrandingFile | undefined;
  readonly style: BrandingFile | undefined;
}

export const productName = "Sealpush";
export const brandNameCharactersMax = 60;

/** What this instance calls itself, to people and to their programs. */
export function nameOf(look: Pick<Look, "name">): string {
  return look.name ?? productName;
}

/** The instance's own name, logo and style sheet. */
export interface Branding {
  /** From memory; what another process changed arrives within seconds. */
  look(): Look;
  /** By the name in its address; undefined: no such file now. */
  findFile(filename: string): BrandingFile | undefined;
  /** 1 to 60 characters, none of them a control or formatting character. @returns false when it is something else. */
  setName(name: string): Promise<boolean>;
  /** @returns false when the bytes are no picture that we take, or too many. */
  setLogo(bytes: Buffer): Promise<boolean>;
  /** One without rules is as none. @returns undefined when it was taken. */
  setStyle(css: string): Promise<StyleSheetProblem | undefined>;
  reset(part: BrandingPart): Promise<void>;
}

const freshMs = 5 * secondMs;
const styleType = "text/css; charset=utf-8";

export function createBranding(deps: { readonly db: Database; readonly clock: Clock }): Branding {
  const store = createBrandingStore(deps.db);
  let known: { readonly look: Look; readonly readAt: number } | undefined;

  function look(): Look {
    const now = deps.clock.now();
    // Either direction: a clock that was set back must not keep an old look until then.
    if (known === undefined || Math.abs(now - known.readAt) >= freshMs)
      known = { look: lookOf(store.read()), readAt: now };
    return known.look;
  }

  async function put(name: BrandingPart, content: Buffer, contentType: string): Promise<void> {
    await store.put({ name, content, contentType, updatedAt: deps.clock.now() });
    known = undefined;
  }

  async function reset(part: BrandingPart): Promise<void> {
    await store.remove(part);
    known = undefined;
  }

  return {
    look,
    findFile(filename) {
      const { logo, style } = look();
      return [logo, style].find((file) => file?.filename === filename);
    },
    async setName(name) {
      const text = name.trim();
      if (text === "" || [...text].length > brandNameCharactersMax || /[\p{C}\p{Zl}\p{Zp}]/u.test(text)) return false;
      await put("name", Buffer.from(text, "utf8"), "text/plain");
      return true;
    },
    async setLogo(bytes) {
      const type = bytes.length > logoBytesMax ? undefined : logoTypeOf(bytes);
      if (type === undefined) return false;
      await put("logo", bytes, type);
      return true;
    },
    async setStyle(css) {
      const read = await readStyleSheet(css);
      if (!read.ok) return read.problem;
      if (read.css === "") await reset("style");
      else await put("style", Buffer.from(read.css, "utf8"), styleType);
      return undefined;
    },
    reset,
  };
}

function lookOf(parts: readonly StoredPart[]): Look {
  const part = (name: BrandingPart) => parts.find((stored) => stored.name === name)?.content;
  const logo = part("logo");
  const logoType = logo === undefined ? undefined : logoTypeOf(logo);
  const style = part("style");
  return {
    name: part("name")?.toString("utf8"),
    logo: logo && logoType && fileOf("logo", endingOf(logoType), logoType, logo),
    style: style && fileOf("style", "css", styleType, style),
  };
}

function fileOf(name: string, ending: string, contentType: BrandingFile["contentType"], content: Buffer): BrandingFile {
  const mark = digest(content.toString("base64")).toString("hex").slice(0, 16);
  return { filename: `${name}-${mark}.${ending}`, contentType, content };
}
