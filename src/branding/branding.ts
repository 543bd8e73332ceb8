import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { digest } from "../crypto/digests.ts";
import type { Database, InTransaction } from "../database/database.ts";
import { type BrandingPart, createBrandingStore, type StoredPart } from "./store/branding.ts";
import { readStyleSheet, type StyleSheetProblem } from "./style-sheet.ts";

export { type BrandingPart, brandingParts } from "./store/branding.ts";
export type { StyleSheetProblem } from "./style-sheet.ts";

/** A file of the instance's own theme. Its name changes with its content, so browsers may keep it. */
export interface BrandingFile {
  readonly filename: string;
  readonly contentType: LogoType | "text/css; charset=utf-8";
  readonly content: Buffer;
}

/** How this instance calls itself and looks; undefined parts are ours. */
export interface Theme {
  readonly name: string | undefined;
  readonly logo: BrandingFile | undefined;
  readonly style: BrandingFile | undefined;
}

export const productName = "Sealpush";
export const brandNameCharactersMax = 60;

/** What this instance calls itself, to people and to their programs. */
export function nameOf(theme: Pick<Theme, "name">): string {
  return theme.name ?? productName;
}

/** The instance's own name, logo and style sheet. A change takes along what is to be written together with it. */
export interface Branding {
  /** From memory. What another process changed is there after the next `refresh`. */
  theme(): Theme;
  /** For the timetable: one small read, and the whole theme only when somebody has changed it. */
  refresh(): Promise<void>;
  /** By the name in its address; undefined: no such file now. */
  findFile(filename: string): Promise<BrandingFile | undefined>;
  /** 1 to 60 characters, none of them a control or formatting character. @returns false when it is something else. */
  setName(name: string, together: InTransaction): Promise<boolean>;
  /** @returns false when the bytes are no picture that we take, or too many. */
  setLogo(bytes: Buffer, together: InTransaction): Promise<boolean>;
  /** One without rules is as none. @returns undefined when it was taken. */
  setStyle(css: string, together: InTransaction): Promise<StyleSheetProblem | undefined>;
  reset(part: BrandingPart, together: InTransaction): Promise<void>;
}

const markBytes = 16;
const styleType = "text/css; charset=utf-8";

/**
 * Opened with the look as it is now.
 * @param deps `settledName` holds until somebody gives another one; undefined: ours.
 */
export async function openBranding(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly settledName: string | undefined;
}): Promise<Branding> {
  const store = createBrandingStore(deps.db);
  let known = await readAll();
  /** Readings as they began: one that began earlier never takes the place of a later one's. */
  let begun = 0;
  let shown = 0;

  /** The mark first: parts that change in between are read again next time. */
  async function readAll() {
    const mark = await store.readMark();
    return { mark, theme: lookOf(await store.readParts(), deps.settledName) };
  }

  async function refresh(): Promise<void> {
    begun += 1;
    const turn = begun;
    if (isSameMark(known.mark, await store.readMark())) return;
    const read = await readAll();
    if (turn < shown) return;
    [known, shown] = [read, turn];
  }

  async function put(name: BrandingPart, content: Buffer, contentType: string, together: InTransaction): Promise<void> {
    const part = { name, content, contentType, updatedAt: deps.clock.now() };
    await store.put(part, deps.random.bytes(markBytes), together);
    await refresh();
  }

  async function reset(part: BrandingPart, together: InTransaction): Promise<void> {
    await store.remove(part, deps.random.bytes(markBytes), together);
    await refresh();
  }

  const findKnown = (filename: string) =>
    [known.theme.logo, known.theme.style].find((file) => file?.filename === filename);

  return {
    theme: () => known.theme,
    refresh,
    async findFile(filename) {
      const file = findKnown(filename);
      if (file !== undefined) return file;
      // The page may come from a process that has seen a change which this one has not.
      await refresh();
      return findKnown(filename);
    },
    async setName(name, together) {
      const text = name.trim();
      if (text === "" || [...text].length > brandNameCharactersMax || /[\p{C}\p{Zl}\p{Zp}]/u.test(text)) return false;
      await put("name", Buffer.from(text, "utf8"), "text/plain", together);
      return true;
    },
    async setLogo(bytes, together) {
      const type = bytes.length > logoBytesMax ? undefined : logoTypeOf(bytes);
      if (type === undefined) return false;
      await put("logo", bytes, type, together);
      return true;
    },
    async setStyle(css, together) {
      const read = await readStyleSheet(css);
      if (!read.ok) return read.problem;
      if (read.css === "") await reset("style", together);
      else await put("style", Buffer.from(read.css, "utf8"), styleType, together);
      return undefined;
    },
    reset,
  };
}

function isSameMark(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}

function lookOf(parts: readonly StoredPart[], settledName: string | undefined): Theme {
  const part = (name: BrandingPart) => parts.find((stored) => stored.name === name)?.content;
  const logo = part("logo");
  const logoType = logo === undefined ? undefined : logoTypeOf(logo);
  const style = part("style");
  return {
    name: part("name")?.toString("utf8") ?? settledName,
    logo: logo && logoType && fileOf("logo", endingOf(logoType), logoType, logo),
    style: style && fileOf("style", "css", styleType, style),
  };
}

function fileOf(name: string, ending: string, contentType: BrandingFile["contentType"], content: Buffer): BrandingFile {
  const mark = digest(content.toString("base64")).toString("hex").slice(0, 16);
  return { filename: `${name}-${mark}.${ending}`, contentType, content };
}

export type LogoType = "image/png" | "image/jpeg" | "image/webp" | "image/gif";

export const logoBytesMax = 256 * 1024;

const endings: Readonly<Record<LogoType, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "image/gif": "gif",
};

export function endingOf(type: LogoType): string {
  return endings[type];
}

const starts: readonly (readonly [LogoType, readonly (number | undefined)[]])[] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  // RIFF, four bytes of length, WEBP.
  ["image/webp", [0x52, 0x49, 0x46, 0x46, ...Array<undefined>(4), 0x57, 0x45, 0x42, 0x50]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
];

/** By its first bytes, whatever its name says. undefined: no picture that we take; SVG is none, for it can hold scripts. */
export function logoTypeOf(bytes: Uint8Array): LogoType | undefined {
  return starts.find(([, start]) => start.every((byte, at) => byte === undefined || bytes[at] === byte))?.[0];
}
