import type { Page } from "playwright-core";
import type { Site } from "./site.ts";

export interface PageState {
  readonly name: string;
  /** "by hand": showing it sets cookies. */
  readonly signedIn?: true | "administrator" | "by hand";
  readonly userAgent?: string;
  /** Other origins that are requested on the way to the page. */
  readonly allowedOrigins?: readonly string[];
  /** Opens the page, in the language that the browser requests. */
  show(page: Page, site: Site): Promise<unknown>;
}
