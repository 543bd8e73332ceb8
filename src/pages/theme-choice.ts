import type { IncomingMessage } from "node:http";
import type { Config } from "../config/config.ts";
import type { Client } from "../http/client.ts";
import { createTokenCookies } from "../http/session-cookie.ts";

export const themeChoicePath = "/theme";

type ThemeMode = Config["appearance"]["themeMode"];

/** `auto`: as the browser prefers. */
export const themeModes = ["auto", "light", "dark"] as const satisfies readonly ThemeMode[];

const yearSeconds = 365 * 86_400;
export const themeCookies = ({ secureCookies }: Pick<Config, "secureCookies">) =>
  createTokenCookies(secureCookies, { name: "sealpush_theme", seconds: yearSeconds });

/** What the person has chosen in this browser; undefined: nothing, so the instance's setting counts. */
export function findThemeChoice(
  config: Pick<Config, "secureCookies">,
  request: IncomingMessage,
  client: Client,
): ThemeMode | undefined {
  const chosen = themeCookies(config).find(request, client);
  return themeModes.find((mode) => mode === chosen);
}
