import { crc32, deflateSync } from "node:zlib";
import { renderToString } from "preact-render-to-string";
import { encode } from "uqr";

// Version 40 at the lowest error correction holds no more than this (ISO/IEC 18004).
const qrBytesMax = 2_953;
// The standard asks for four empty modules around the code.
const quietModules = 4;
/** The PNG image is large enough to be printed. */
const pixelsPerModule = 12;

/** @returns whether `text` can be written as one QR code. */
export function fitsQrCode(text: string): boolean {
  return Buffer.byteLength(text, "utf8") <= qrBytesMax;
}

/** Rows of modules, without the quiet ones. Only for text that `fitsQrCode`. */
function modulesOf(text: string): readonly (readonly boolean[])[] {
  // uqr would split a string's UTF-16 by itself; bytes make the encoding explicit.
  return encode([...Buffer.from(text, "utf8")], { ecc: "L", boostEcc: true, border: 0 }).data;
}

/** Runs of dark modules as one path: h pixels right, one down, back. */
function pathOf(rows: readonly (readonly boolean[])[]): string {
  let path = "";
  rows.forEach((row, y) => {
    let x = 0;
    while (x < row.length) {
      const start = x;
      while (x < row.length && row[x] === true) x += 1;
      if (x > start) path += `M${start + quietModules} ${y + quietModules}h${x - start}v1H${start + quietModules}z`;
      x += 1;
    }
  });
  return path;
}

/** Programs extract the drawing from the page and show it alone. */
const svgNamespace = "http://www.w3.org/2000/svg";

/** Dark on white in every colour scheme: many scanners read nothing else. Only for text that `fitsQrCode`. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const modules = modulesOf(text);
  const side = modules.length + 2 * quietModules;
  return (
    <svg
      xmlns={svgNamespace}
      class="qr-code"
      viewBox={`0 0 ${side} ${side}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <rect width={side} height={side} fill="#ffffff" />
      <path d={pathOf(modules)} fill="#000000" />
    </svg>
  );
}

/** The drawing as a file. Only for text that `fitsQrCode`. */
export function qrCodeSvg(text: string, label: string): string {
  return renderToString(<QrCode text={text} label={label} />);
}

/** The same code as a PNG image with one bit per pixel (W3C PNG, third edition). Only for text that `fitsQrCode`. */
export function qrCodePng(text: string): Buffer {
  const modules = modulesOf(text);
  const side = (modules.length + 2 * quietModules) * pixelsPerModule;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // Bit depth 1, greyscale.
  header.writeUInt8(1, 8);
  const isDark = (x: number, y: number) => modules[y - quietModules]?.[x - quietModules] === true;
  const rowBytes = Math.ceil(side / 8);
  const lines: Buffer[] = [];
  for (let y = 0; y < side / pixelsPerModule; y += 1) {
    // The first byte says that the line is not filtered.
    const line = Buffer.alloc(1 + rowBytes);
    for (let pixel = 0; pixel < side; pixel += 1) {
      const at = 1 + (pixel >> 3);
      if (!isDark(Math.floor(pixel / pixelsPerModule), y)) line[at] = (line[at] ?? 0) | (0x80 >> (pixel & 7));
    }
    for (let repeated = 0; repeated < pixelsPerModule; repeated += 1) lines.push(line);
  }
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  const data = deflateSync(Buffer.concat(lines));
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, check]);
}
