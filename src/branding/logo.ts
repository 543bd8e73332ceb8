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
