import { nameOf } from "../../branding/branding.ts";
import { type PageContext, usePage } from "../page.ts";
import { brandingHref } from "./logo.tsx";

export interface LinkCardProps {
  readonly title: string;
}

/**
 * What chats show below a link (Open Graph): the instance's name and logo, and what such a link is. It is the same for every
 * link, and has not its address: chats keep cards for everybody in a room.
 */
export function LinkCard({ title }: LinkCardProps) {
  const page = usePage();
  const properties = {
    "og:site_name": nameOf(page.theme),
    "og:title": title,
    "og:description": page.messages.robot.text,
    "og:image": new URL(logoHref(page), page.baseUrl).href,
  };
  return (
    <>
      {Object.entries(properties).map(([property, content]) => (
        <meta key={property} property={property} content={content} />
      ))}
    </>
  );
}

/** Chats do not show SVG images. */
function logoHref({ theme, appearance, assetUrl }: PageContext): string {
  const own = theme.logo === undefined ? appearance.logo.light : brandingHref(theme.logo);
  return own ?? assetUrl("icon-512.png");
}
