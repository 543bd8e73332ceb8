import type { IncomingMessage } from "node:http";
import type { Config } from "../config/config.ts";
import type { Client } from "../http/client.ts";
import { createTokenCookies } from "../http/session-cookie.ts";

/** In a link beside `locale`: a person chose the language, so this browser keeps it. */
export const keepsLanguage = "keep_locale";

const yearSeconds = 365 * 86_400;
export const languageCookies = ({ secureCookies }: Pick<Config, "secureCookies">) =>
  createTokenCookies(secureCookies, { name: "sealpush_language", seconds: yearSeconds });

/** The tag that the person has chosen in this browser, as it came. */
export const findLanguageChoice = (config: Pick<Config, "secureCookies">, request: IncomingMessage, client: Client) =>
  languageCookies(config).find(request, client);

/** Threat: another site's link changes the language for a year. Browsers that do not say where a request comes from are trusted with that. */
export function isChosenHere({ headers, method }: IncomingMessage): boolean {
  const site = headers["sec-fetch-site"];
  return method === "GET" && (site === undefined || site === "same-origin");
}
