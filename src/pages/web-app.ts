import { nameOf } from "../branding/branding.ts";
import type { AssetName } from "./assets.ts";
import { manifestPath } from "./layout.tsx";
import type { PageRequest, PageRoute, Reply } from "./request.ts";

export const sharePath = "/share";

/** `GET /manifest.webmanifest`: with it, browsers can install this site as an app that other apps share texts with. */
function showManifest(page: PageRequest): Reply {
  const { messages, theme, assetUrl } = page.context();
  const icon = (name: AssetName, sizes: string, type: string, purpose = "any") => ({
    src: assetUrl(name),
    sizes,
    type,
    purpose,
  });
  const manifest = {
    id: "/",
    start_url: "/",
    scope: "/",
    name: nameOf(theme),
    short_name: nameOf(theme),
    description: messages.footer.promise,
    lang: messages.locale.tag,
    dir: messages.locale.dir,
    display: "minimal-ui",
    background_color: "#f5f6f3",
    theme_color: "#f5f6f3",
    icons: [
      icon("favicon.svg", "any", "image/svg+xml"),
      icon("icon-192.png", "192x192", "image/png"),
      icon("icon-512.png", "512x512", "image/png"),
      icon("icon-maskable-512.png", "512x512", "image/png", "maskable"),
    ],
    // By POST: a GET would put the secret into an address.
    share_target: {
      action: sharePath,
      method: "POST",
      enctype: "application/x-www-form-urlencoded",
      params: { title: "title", text: "text", url: "url" },
    },
  };
  return page.reply.type("application/manifest+json; charset=utf-8").send(JSON.stringify(manifest));
}

/** The addresses that browsers and systems ask for without reading a page. */
const icons: readonly { readonly path: string; readonly asset: AssetName }[] = [
  { path: "/favicon.ico", asset: "favicon.svg" },
  { path: "/apple-touch-icon.png", asset: "icon-180.png" },
  { path: "/apple-touch-icon-precomposed.png", asset: "icon-180.png" },
];

export const webAppRoutes: readonly PageRoute[] = [
  { method: "GET", path: manifestPath, group: "internal", access: "public", handler: showManifest },
  ...icons.map(
    ({ path, asset }): PageRoute => ({
      method: "GET",
      path,
      group: "recipient",
      access: "public",
      handler: (page) => page.redirectToUrl(page.services.assetUrl(asset), 301),
    }),
  ),
];
