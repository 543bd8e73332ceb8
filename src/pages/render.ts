import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";

/** A whole page, ready to be rendered: what every view returns. */
export type Page = VNode;

/** @returns the HTML document, from its doctype on. */
export function renderPage(page: Page): string {
  return `<!doctype html>${renderToString(page)}`;
}
