import { describe, expect, test } from "vitest";
import { isRobot } from "./robots.ts";

const robots = [
  "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
  "Slack-ImgProxy (+https://api.slack.com/robots)",
  "Slackbot 1.0 (+https://api.slack.com/robots)",
  "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 7_0 like Mac OS X) AppleWebKit/537.51.1 (KHTML, like Gecko) Version/7.0 Mobile/11A465 Safari/9537.53 BingPreview/1.0b",
  "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
  "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)",
  "WhatsApp/2.23.20.0",
  "WhatsApp/2",
  "TelegramBot (like TwitterBot)",
  "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 11.6; rv:92.0) Gecko/20100101 Firefox/92.0 Discordbot/2.0",
  "Twitterbot/1.0",
  "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
  "mattermost-9.2.0",
  "Mozilla/5.0 (compatible; Rocket.Chat OEmbed; +https://rocket.chat)",
  "Mozilla/5.0 (compatible; ZulipURLPreview/8.0; +https://zulip.com)",
  "Synapse (bot; +https://github.com/matrix-org/synapse)",
  "Synapse/1.98.0",
  "Mastodon/4.2.1 (http.rb/5.1.1; +https://mastodon.social/)",
  "Bluesky Cardyb/1.1; +mailto:support@bsky.app",
  "Viber/20.0.0.0",
  "Misskey/2024.11.0",
  "Tumblr/14.0.835.186",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Perplexity-User/1.0; +https://perplexity.ai/perplexity-user)",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Claude-User/1.0; +Claude-User@anthropic.com)",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot",
  "facebookexternalhit/1.1;line-poker/1.0",
  "facebookexternalhit/1.1; kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984",
  "Mozilla/5.0 (compatible; Embedly/0.2; +http://support.embed.ly/)",
  "Iframely/1.3.1 (+https://iframely.com/docs/about)",
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko; Google-Read-Aloud; +https://support.google.com/webmasters/answer/1061943) Chrome/99.0 Safari/537.36",
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/41.0.2272.118 Safari/537.36 Google-Safety",
  "Mozilla/5.0 (compatible; BarracudaCentral/1.0)",
  "Mozilla/5.0 (compatible; Mimecast-URL-Protect)",
  "ProofpointURLDefense/1.0",
  "Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.12026; Pro)",
  "Mozilla/4.0 (compatible; ms-office; MSOffice 16)",
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
];

/** Previews and scanners that isbot recognises by parts of their names, not by these names. */
const recognisedByIsbot = [
  "slack-imgproxy",
  "skypeuripreview",
  "microsoftpreview",
  "bingpreview",
  "synapse (bot",
  "synapse/",
  "snap url preview",
  "flipboardproxy",
  "nextcloud server crawler",
  "googlemessages",
  "google-read-aloud",
  "google-safety",
  "google-pagerenderer",
  "googledocs",
  "feedfetcher-google",
  "yahoo link preview",
  "w3c_validator",
  "gmx-linkpreview",
  "linkpreview",
  "link-preview",
  "link preview",
  "url preview",
  "urlpreview",
  "urlscan",
  "linkcheck",
];

const browsers = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
  "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 OPR/115.0.0.0",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Avast/130.0.0.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Android 14; Mobile; rv:133.0) Gecko/133.0 Firefox/133.0",
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Linux; Android 13; SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [LinkedInApp]/9.29.8962",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 340.0.0.0",
  "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/131.0.0.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/490.0.0.0;]",
  "Mozilla/5.0 (Linux; Android 12; CUBOT KINGKONG 7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko",
];

describe("programs that open links on behalf of others", () => {
  test.each(robots.map((userAgent) => [userAgent]))("%s", (userAgent) => expect(isRobot(userAgent)).toBe(true));

  test.each(recognisedByIsbot)("%s, alone and at the end of a browser's name", (name) => {
    expect([name, `${name}/1.0`, `${browsers[0]} ${name}`].map(isRobot)).toEqual([true, true, true]);
  });
});

const scripts = [
  "curl/8.5.0",
  "python-requests/2.31.0",
  "Wget/1.21",
  "Go-http-client/2.0",
  "node",
  "axios/1.7.2",
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0.0.0 Safari/537.36",
  "",
  undefined,
];

describe("programs that people run on purpose, or that do not identify themselves", () => {
  test.each(scripts.map((userAgent) => [userAgent]))("%s", (userAgent) => expect(isRobot(userAgent)).toBe(false));
});

describe("people's browsers", () => {
  test.each(browsers.map((userAgent) => [userAgent]))("%s", (userAgent) => expect(isRobot(userAgent)).toBe(false));
});

test("only the start of a very long User-Agent is examined", () => {
  expect(isRobot(`Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0 ${"a".repeat(60_000)}`)).toBe(
    false,
  );
});
