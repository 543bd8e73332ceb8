import { isbot } from "isbot";

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

const pattern = new RegExp(linkFetchers.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "i");
const userAgentLengthMax = 1_024;

/**
 * Whether a page was asked for by a program that opens links for somebody else. No User-Agent at all counts as one:
 * every browser sends one. Only page addresses ask: scripts that use the API are welcome under any name.
 */
export function isRobot(userAgent: string | undefined): boolean {
  if (userAgent === undefined || userAgent.trim() === "") return true;
  const text = userAgent.slice(0, userAgentLengthMax);
  return isbot(text) || pattern.test(text);
}
