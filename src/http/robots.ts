import { createIsbotFromList, list } from "isbot";

/**
 * Additions to isbot's list: programs that fetch a link that somebody wrote or received, to preview, scan or archive it.
 * Lower case; matched anywhere in the User-Agent. What isbot recognises wherever it is written is not repeated.
 */
const linkFetchers = [
  // Chat and social networks that unfurl links.
  "slackbot",
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
  "redditbot",
  "vkshare",
  "pinterestbot",
  "apple-pubsub",
  "applebot",
  "embedly",
  "iframely",
  "outbrain",
  "notionbot",
  "zoombot",
  "webexteams",
  "unfurl",
  // Assistants that read a pasted link.
  "claude-user",
  "perplexity-user",
  "mistralai-user",
  // Mail and web filters that open links before the recipient does.
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
  "phishtank",
  "netcraft",
  "paloalto",
  "censys",
  "shodan",
  "urlhaus",
] as const;

/**
 * General-purpose clients that isbot counts as robots. People who run one have the link and request it on purpose. A link
 * preview under such a name is not recognised: the retrieval step stops it.
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
 * Whether a known program that opens links on behalf of others requests the page. Used on page paths only: on API paths the
 * user agent does not matter.
 */
export function isRobot(userAgent: string | undefined): boolean {
  if (userAgent === undefined) return false;
  const text = userAgent.slice(0, userAgentLengthMax);
  return recognised(text) || pattern.test(text);
}
