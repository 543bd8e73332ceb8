import type { IncomingMessage } from "node:http";
import type { FastifyReply } from "fastify";
import { AppError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import { textOf } from "../http/body/form-fields.ts";
import type { Client } from "../http/client.ts";
import { createTokenCookies } from "../http/session-cookie.ts";
import type { PageRequest } from "./request.ts";
import { ownPath } from "./return-path.ts";

export const themeChoicePath = "/theme";

type ThemeMode = Config["appearance"]["themeMode"];

/** `auto`: as the browser prefers. */
export const themeModes = ["auto", "light", "dark"] as const satisfies readonly ThemeMode[];

const yearSeconds = 365 * 86_400;
const cookiesOf = ({ secureCookies }: Pick<Config, "secureCookies">) =>
  createTokenCookies(secureCookies, { name: "sealpush_theme", seconds: yearSeconds });

/** What the person has chosen in this browser; undefined: nothing, so the instance's setting counts. */
export function findThemeChoice(
  config: Pick<Config, "secureCookies">,
  request: IncomingMessage,
  client: Client,
): ThemeMode | undefined {
  const chosen = cookiesOf(config).find(request, client);
  return themeModes.find((mode) => mode === chosen);
}

/** `POST /theme`: remembers the choice in this browser, and shows the page again. */
export async function chooseTheme(page: PageRequest): Promise<FastifyReply> {
  const form = await page.form();
  const mode = themeModes.find((known) => known === textOf(form, "theme"));
  if (mode === undefined) throw new AppError("invalid_request", "theme must be auto, light or dark.");
  page.setCookie(cookiesOf(page.services.config).made(mode, page.request.client));
  return page.redirect(ownPath(textOf(form, "next")) ?? "/");
}
