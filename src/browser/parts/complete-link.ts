import { encode } from "uqr";
import { replacingEvent } from "./handover.ts";
import { keyInLink, showState } from "./key-in-link.ts";

/**
 * The page with the link of a push that was sealed in this browser: adds the key to the link, the message and the QR code. The
 * key is taken out of the address of the page, so that it is not in the history; a reload does not have it any more.
 */
export async function completeLink(): Promise<void> {
  const root = document.querySelector<HTMLElement>("[data-sealed-link]");
  if (root === null) return;
  const key = await keyInLink(root.dataset.sealedLink ?? "");
  if (key.state !== "right") {
    showState(document, "missing");
    return;
  }
  history.replaceState(history.state, "", location.pathname + location.search);
  const { identity } = key;
  addKey(document, identity);
  // The same page for another language of the recipient.
  document.addEventListener(replacingEvent, (event) => {
    if (event instanceof CustomEvent) addKey(event.detail, identity);
  });
  showState(document, "right");
  root.querySelector<HTMLElement>("[data-focus]")?.focus();
}

function addKey(page: Document, identity: string): void {
  const field = page.querySelector<HTMLInputElement>("input#link");
  const message = page.querySelector<HTMLTextAreaElement>("textarea#message");
  const printed = page.querySelector("#link_printed");
  const code = page.querySelector("svg.qr-code");
  if (field === null || message === null || printed === null || code === null) return;
  const link = field.value;
  const whole = `${link}#${identity}`;
  field.value = whole;
  printed.textContent = whole;
  // It is what the page has written, not what somebody has edited.
  message.defaultValue = message.value.replace(link, whole);
  message.value = message.defaultValue;
  // The link that opens an email follows the field.
  message.dispatchEvent(new Event("input", { bubbles: true }));
  const rows = encode(whole, { ecc: "L", boostEcc: true, border: quietModules }).data;
  drawCode(code, rows);
  const files = { svg: svgOf(code), png: pngOf(rows) };
  for (const [format, address] of Object.entries(files))
    page.getElementById(`qr_${format}`)?.setAttribute("href", address);
}

type Rows = readonly (readonly boolean[])[];

/** Modules around the code, as the standard asks. */
const quietModules = 4;
/** The PNG image is large enough to be printed, as those of other pushes. */
const pixelsPerModule = 12;

function drawCode(code: Element, rows: Rows): void {
  const path = darkModules(rows)
    .map(([x, y]) => `M${x} ${y}h1v1h-1z`)
    .join("");
  code.setAttribute("viewBox", `0 0 ${rows.length} ${rows.length}`);
  const ground = code.querySelector("rect");
  for (const side of ["width", "height"]) ground?.setAttribute(side, String(rows.length));
  code.querySelector("path")?.setAttribute("d", path);
}

function darkModules(rows: Rows): (readonly [x: number, y: number])[] {
  return rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [[x, y] as const] : [])));
}

function svgOf(code: Element): string {
  return `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(code))}`;
}

function pngOf(rows: Rows): string {
  const canvas = document.createElement("canvas");
  canvas.width = rows.length * pixelsPerModule;
  canvas.height = canvas.width;
  const context = canvas.getContext("2d");
  if (context === null) return "";
  context.scale(pixelsPerModule, pixelsPerModule);
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, rows.length, rows.length);
  context.fillStyle = "#000000";
  for (const [x, y] of darkModules(rows)) context.fillRect(x, y, 1, 1);
  return canvas.toDataURL("image/png");
}
