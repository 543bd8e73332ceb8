import { encode } from "uqr";
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
  const field = root.querySelector<HTMLInputElement>("input#link");
  const message = root.querySelector<HTMLTextAreaElement>("textarea#message");
  const printed = root.querySelector("#link_printed");
  const code = root.querySelector("svg.qr-code");
  if (field === null || message === null || printed === null || code === null) return;
  const link = field.value;
  const whole = `${link}#${key.identity}`;
  field.value = whole;
  printed.textContent = whole;
  message.value = message.value.replace(link, whole);
  // The link that opens an email follows the field.
  message.dispatchEvent(new Event("input", { bubbles: true }));
  drawCode(code, whole);
  showState(document, "right");
  root.querySelector<HTMLElement>("[data-focus]")?.focus();
}

/** Modules around the code, as the standard asks. */
const quietModules = 4;

function drawCode(code: Element, text: string): void {
  const rows = encode(text, { ecc: "L", boostEcc: true, border: quietModules }).data;
  const path = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join("");
  code.setAttribute("viewBox", `0 0 ${rows.length} ${rows.length}`);
  const ground = code.querySelector("rect");
  for (const side of ["width", "height"]) ground?.setAttribute(side, String(rows.length));
  code.querySelector("path")?.setAttribute("d", path);
}
