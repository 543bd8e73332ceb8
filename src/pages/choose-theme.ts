import { AppError } from "../base/errors.ts";
import { textOf } from "../http/body/form-fields.ts";
import type { PageRequest, Reply } from "./request.ts";
import { ownPath } from "./return-path.ts";
import { themeCookies, themeModes } from "./theme-choice.ts";

/** `POST /theme`: remembers the choice in this browser, and shows the page again. */
export async function chooseTheme(page: PageRequest): Promise<Reply> {
  const form = await page.form();
  const mode = themeModes.find((known) => known === textOf(form, "theme"));
  if (mode === undefined) throw new AppError("invalid_request", "theme must be auto, light or dark.");
  page.setCookie(themeCookies(page.services.config).made(mode, page.request.client));
  return page.redirect(ownPath(textOf(form, "next")) ?? "/");
}
