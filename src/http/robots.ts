import { createIsbotFromList, list } from "isbot";

/**
 * What isbot's list lacks: programs that fetch a link somebody wrote or received, to preview, scan or archive it. Each
 * names itself in its User-Agent. Lower case; found anywhere in it.
 */
const linkFetchers = [
  // Chat and social networks that unfurl links.
  "slackbot",
  "slack-imgproxy",
  "skypeuripreview",
  "microsoftpreview",
  "bingpreview",
  "msteams",
  "teamsbot",
  "facebookexternalhit",
  "meta-externalagent",
  "meta-externalfetcher",
  "whatsapp/",
  "telegrambot",
  "discordbot",
  "twitterbot",
  "linkedinbot",
  "mattermost",
  "rocket.chat",
  "zulip",
  "signal-desktop",
  "synapse (bot",
  "synapse/",
  "matrix-media-repo",
  "mastodon",
  "pleroma",
  "akkoma",
  "misskey",
  "summaly",
  "tumblr/",
  "bluesky cardyb",
  "viber",
  "line-poker",
  "linebot",
  "kakaotalk-scrap",
  "kakaostory-og",
  "snap url preview",
  "redditbot",
  "vkshare",
  "pinterestbot",
  "flipboardproxy",
  "nextcloud server crawler",
  "googlemessages",
  "google-read-aloud",
  "google-safety",
  "google-pagerenderer",
  "googledocs",
  "feedfetcher-google",
  "apple-pubsub",
  "applebot",
  "yahoo link preview",
  "embedly",
  "iframely",
  "outbrain",
  "w3c_validator",
  "notionbot",
  "zoombot",
  "webexteams",
  "gmx-linkpreview",
  "linkpreview",
  "link-preview",
  "link preview",
  "url preview",
  "urlpreview",
  "unfurl",
  // Assistants that read a link somebody pasted.
  "claude-user",
  "perplexity-user",
  "mistralai-user",
  // Mail and web filters that open links before their reader does.
  "barracuda",
  "mimecast",
  "proofpoint",
  "safelinks",
  "microsoft office",
  "ms-office",
  "microsoft outlook",
  "trendmicro",
  "forcepoint",
  "messagelabs",
  "zscaler",
  "cloudmark",
  "ironport",
  "cisco-amp",
  "virustotal",
  "urlscan",
  "phishtank",
  "netcraft",
  "paloalto",
  "censys",
  "shodan",
  "urlhaus",
  "linkcheck",
] as const;

/**
 * General-purpose programs that isbot takes for robots. Whoever runs one has been given the link and asks on purpose;
 * what unfurls links under such a name is not recognised and is what the retrieval step is for.
 */
const scripts = [
  "curl/8.5.0",
  "Wget/1.21.3",
  "HTTPie/3.2.2",
  "python-requests/2.31.0",
  "python-httpx/0.27.0",
  "Python-urllib/3.11",
  "Python/3.11 aiohttp/3.9.1",
  "node",
  "undici",
  "node-fetch/1.0 (+https://github.com/bitinn/node-fetch)",
  "axios/1.7.2",
  "got (https://github.com/sindresorhus/got)",
  "Go-http-client/2.0",
  "Java/17.0.9",
  "Apache-HttpClient/4.5.14 (Java/17.0.9)",
  "okhttp/4.12.0",
  "libwww-perl/6.72",
  "Ruby",
  "Faraday v2.9.0",
  "GuzzleHttp/7",
  "reqwest/0.12",
  "PostmanRuntime/7.37.0",
  "Mozilla/5.0 (Windows NT; Windows NT 10.0; de-DE) WindowsPowerShell/5.1.22621.2506",
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.0.0 Safari/537.36",
];

const recognised = createIsbotFromList(
  list.filter((known) => !scripts.some((name) => new RegExp(known, "i").test(name))),
);
const pattern = new RegExp(linkFetchers.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "i");
const userAgentLengthMax = 1_024;

/**
 * Whether a page was asked for by a program known to open links that others wrote or received. Only page addresses ask:
 * on API paths the user agent decides nothing.
 */
export function isRobot(userAgent: string | undefined): boolean {
  if (userAgent === undefined) return false;
  const text = userAgent.slice(0, userAgentLengthMax);
  return recognised(text) || pattern.test(text);
}
