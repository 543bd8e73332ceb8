import { checkOf } from "@sealpush/age/key-check";
import { encode } from "uqr";
import { copiedEvent } from "./copy.ts";
import { replacingEvent, sharedEvent } from "./handover.ts";
import { forgetLinkKey, takeLinkKey } from "./kept-link-key.ts";
import { showState } from "./key-in-link.ts";

/**
 * The page with the link of a push that was sealed in this browser: adds the key to the link, the message and the QR code. This
 * tab keeps the key until somebody has the link and the page is left.
 */
export async function completeLink(): Promise<void> {
  const root = document.querySelector<HTMLElement>("[data-sealed-link]");
  if (root === null) return;
  // Before anything can fail: it is the only copy.
  const identity = takeLinkKey();
  if (identity === undefined || !isSecureContext || !(await isRight(identity, root.dataset.sealedLink ?? ""))) {
    showState(document, "missing");
    return;
  }
  guard(identity);
  addKey(document, identity);
  // The same page for another language of the recipient.
  document.addEventListener(replacingEvent, (event) => {
    if (event instanceof CustomEvent) addKey(event.detail, identity);
  });
  showState(document, "right");
  root.querySelector<HTMLElement>("[data-focus]")?.focus();
}

/** @param check see `EndToEnd.check` of the push; "": it has none. */
async function isRight(identity: string, check: string): Promise<boolean> {
  if (check === "" || (await checkOf(identity)) === check) return true;
  forgetLinkKey(location.pathname);
  return false;
}

/** Until a text with the key was copied or shared, leaving the page asks. Afterwards, leaving it ends the key here. */
function guard(identity: string): void {
  let isHandedOver = false;
  let asks = true;
  const handOver = (event: Event) => {
    const { target } = event;
    if (target instanceof Element && handedText(target, event.type).includes(identity)) isHandedOver = true;
  };
  for (const type of [copiedEvent, sharedEvent, "copy"]) document.addEventListener(type, handOver);
  addEventListener("beforeunload", (event) => {
    if (asks && !isHandedOver) event.preventDefault();
  });
  // To open a mail program leaves nothing, and a link that is deleted needs no copy.
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element) || event.target.closest('a[href^="mailto:"]') === null) return;
    asks = false;
    setTimeout(() => {
      asks = true;
    }, 0);
  });
  document.querySelector('form[action$="/expire"]')?.addEventListener("submit", () => {
    asks = false;
  });
  addEventListener("pagehide", () => {
    asks = false;
    if (isHandedOver) forgetLinkKey(location.pathname);
  });
}

/** What a button has handed out, or what is selected in a field. */
function handedText(target: Element, type: string): string {
  const { copy, share } = target instanceof HTMLElement ? target.dataset : {};
  const field = type === "copy" ? target : document.getElementById(copy ?? share ?? "");
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return "";
  return type === "copy" ? field.value.slice(field.selectionStart ?? 0, field.selectionEnd ?? 0) : field.value;
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
