import type { Clock } from "../base/clock.ts";
import { isVisibleLine } from "../base/one-line.ts";
import type { Random } from "../base/random.ts";
import type { AccessKeys } from "../crypto/access-keys.ts";
import { digest } from "../crypto/digests.ts";
import type { Database, InTransaction } from "../database/database.ts";
import { type AccentProblem, accentProblem, accentSheet } from "./accent.ts";
import { type BrandingPart, createBrandingStore } from "./store/branding.ts";
import { readStyleSheet, type StyleSheetProblem } from "./style-sheet.ts";

export { type AccentProblem, contrastMin } from "./accent.ts";
export { type BrandingPart, brandingParts } from "./store/branding.ts";
export type { StyleSheetProblem } from "./style-sheet.ts";

/** A file of the instance's theme. Its name changes with its content, so browsers may cache it forever. */
export interface BrandingFile {
  /** undefined: the file is not stored, so it has no address; only in a preview. */
  readonly filename: string | undefined;
  readonly contentType: LogoType | typeof styleType;
  readonly content: Buffer;
}

/** The instance's own name, logo, accent colour and style sheet; undefined: the product's. */
export interface Theme {
  readonly name: string | undefined;
  readonly logo: BrandingFile | undefined;
  /** The style sheet that applies the colour. */
  readonly accent: (BrandingFile & { readonly colour: string }) | undefined;
  readonly style: BrandingFile | undefined;
}

export const productName = "Sealpush";
export const brandNameCharactersMax = 60;

/** The name of this instance for people and for their programs. */
export function nameOf(theme: Pick<Theme, "name">): string {
  return theme.name ?? productName;
}

const revisionBytes = 16;
const styleType = "text/css; charset=utf-8";

export type Branding = Awaited<ReturnType<typeof openBranding>>;

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly access: AccessKeys;
  /** The name while none is stored; undefined: the product's. */
  readonly configuredName: string | undefined;
}

type BrandingStore = ReturnType<typeof createBrandingStore>;

/**
 * Each part is checked again, as when it was set: the MAC proves that a server wrote it, the check that this one would. A part that
 * fails is absent, and reported.
 */
async function readTheme(store: BrandingStore, deps: Deps): Promise<Theme> {
  const parts = await store.readParts();
  const read = async <Part>(
    name: BrandingPart,
    check: (content: Buffer) => Part | undefined | Promise<Part | undefined>,
  ) => {
    const stored = parts.find((part) => part.name === name);
    const part = stored && (await check(stored.content));
    if (stored !== undefined && part === undefined) deps.access.reportForgedRow("theme_parts");
    return part;
  };
  return {
    name: (await read("name", (content) => readName(content.toString("utf8")))) ?? deps.configuredName,
    logo: await read("logo", (content) => {
      const type = readLogo(content);
      return type && fileOf("logo", endings[type], type, content);
    }),
    accent: await read("accent", (content) => {
      const colour = content.toString("utf8");
      if (accentProblem(colour) !== undefined) return undefined;
      return { ...fileOf("accent", "css", styleType, Buffer.from(accentSheet(colour), "utf8")), colour };
    }),
    style: await read("style", async (content) => {
      const sheet = await readStyleSheet(content.toString("utf8"));
      return sheet.ok ? fileOf("style", "css", styleType, Buffer.from(sheet.css, "utf8")) : undefined;
    }),
  };
}

/** @param refresh called after each change. */
function brandingChanges(store: BrandingStore, deps: Deps, refresh: () => Promise<void>) {
  async function put(name: BrandingPart, content: Buffer, contentType: string, together: InTransaction): Promise<void> {
    const part = { name, content, contentType, updatedAt: deps.clock.now() };
    await store.put(part, deps.random.bytes(revisionBytes), together);
    await refresh();
  }

  async function reset(part: BrandingPart, together: InTransaction): Promise<void> {
    await store.remove(part, deps.random.bytes(revisionBytes), together);
    await refresh();
  }

  return {
    /** @returns false: the name is refused, see `readName`. */
    async setName(name: string, together: InTransaction): Promise<boolean> {
      const text = readName(name);
      if (text === undefined) return false;
      await put("name", Buffer.from(text, "utf8"), "text/plain", together);
      return true;
    },

    /** @returns false: the logo is refused, see `readLogo`. */
    async setLogo(bytes: Buffer, together: InTransaction): Promise<boolean> {
      const type = readLogo(bytes);
      if (type === undefined) return false;
      await put("logo", bytes, type, together);
      return true;
    },

    /** @param colour as `accentProblem` takes it. @returns undefined: accepted. */
    async setAccent(colour: string, together: InTransaction): Promise<AccentProblem | undefined> {
      const problem = accentProblem(colour);
      if (problem === undefined) await put("accent", Buffer.from(colour, "utf8"), "text/plain", together);
      return problem;
    },

    /** A style sheet without rules resets the style. @returns undefined: accepted. */
    async setStyle(css: string, together: InTransaction): Promise<StyleSheetProblem | undefined> {
      const read = await readStyleSheet(css);
      if (!read.ok) return read.problem;
      if (read.css === "") await reset("style", together);
      else await put("style", Buffer.from(read.css, "utf8"), styleType, together);
      return undefined;
    },

    reset,
  };
}

/** The theme as each change would make it. Nothing is stored. undefined and a problem: the change is refused. */
function previewOf(theme: () => Theme) {
  return {
    name(name: string): Theme | undefined {
      const text = readName(name);
      return text === undefined ? undefined : { ...theme(), name: text };
    },

    logo(bytes: Buffer): Theme | undefined {
      const contentType = readLogo(bytes);
      if (contentType === undefined) return undefined;
      return { ...theme(), logo: { filename: undefined, contentType, content: bytes } };
    },

    accent(colour: string): Theme | AccentProblem {
      const problem = accentProblem(colour);
      if (problem !== undefined) return problem;
      const content = Buffer.from(accentSheet(colour), "utf8");
      return { ...theme(), accent: { filename: undefined, contentType: styleType, content, colour } };
    },

    async style(css: string): Promise<Theme | StyleSheetProblem> {
      const read = await readStyleSheet(css);
      if (!read.ok) return read.problem;
      const content = Buffer.from(read.css, "utf8");
      return { ...theme(), style: { filename: undefined, contentType: styleType, content } };
    },
  };
}

/**
 * The instance's theme. Changes take `together`, which is written in the same transaction.
 */
export async function openBranding(deps: Deps) {
  const store = createBrandingStore(deps.db, deps.access);
  let cached = await readAll();
  /** Refreshes are numbered by their start: the result of an earlier one never replaces that of a later one. */
  let refreshesStarted = 0;
  let lastApplied = 0;

  /** Reads the revision first: parts that change in between are read again at the next refresh. */
  async function readAll() {
    const revision = await store.readRevision();
    return { revision, theme: await readTheme(store, deps) };
  }

  /** One small read; the whole theme is only read when it has changed. For the scheduled job. */
  async function refresh(): Promise<void> {
    refreshesStarted += 1;
    const number = refreshesStarted;
    if (isSameRevision(cached.revision, await store.readRevision())) return;
    const read = await readAll();
    if (number < lastApplied) return;
    [cached, lastApplied] = [read, number];
  }

  const findCached = (filename: string) =>
    [cached.theme.logo, cached.theme.accent, cached.theme.style].find((file) => file?.filename === filename);

  return {
    /** From memory. Changes by another process are visible after the next `refresh`. */
    theme: (): Theme => cached.theme,
    refresh,

    /** @returns undefined: the theme has no such file. */
    async findFile(filename: string): Promise<BrandingFile | undefined> {
      const file = findCached(filename);
      if (file !== undefined) return file;
      // The page may come from a process that knows a newer theme than this one.
      await refresh();
      return findCached(filename);
    },

    ...brandingChanges(store, deps, refresh),
    preview: previewOf(() => cached.theme),
  };
}

/** @returns undefined: not 1 to 60 characters on one line, or a hidden one among them. */
function readName(name: string): string | undefined {
  const text = name.trim();
  return isVisibleLine(text) && [...text].length <= brandNameCharactersMax ? text : undefined;
}

/** @returns its type; undefined: not an image of an allowed type, or too large. */
function readLogo(bytes: Buffer): LogoType | undefined {
  return bytes.length > logoBytesMax ? undefined : logoTypeOf(bytes);
}

function isSameRevision(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}

function fileOf(name: string, ending: string, contentType: BrandingFile["contentType"], content: Buffer): BrandingFile {
  const mark = digest(content.toString("base64")).toString("hex").slice(0, 16);
  return { filename: `${name}-${mark}.${ending}`, contentType, content };
}

type LogoType = "image/png" | "image/jpeg" | "image/webp" | "image/gif";

export const logoBytesMax = 256 * 1024;

const endings: Readonly<Record<LogoType, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "image/gif": "gif",
};

const starts: readonly (readonly [LogoType, readonly (number | undefined)[]])[] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  // RIFF, four bytes of length, WEBP.
  ["image/webp", [0x52, 0x49, 0x46, 0x46, ...Array<undefined>(4), 0x57, 0x45, 0x42, 0x50]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
];

/** Decided by the first bytes. @returns undefined: not an allowed image. SVG is not allowed because it can hold scripts. */
function logoTypeOf(bytes: Uint8Array): LogoType | undefined {
  return starts.find(([, start]) => start.every((byte, at) => byte === undefined || bytes[at] === byte))?.[0];
}
