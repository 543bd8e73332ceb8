import { type BrandingFile, nameOf, type Theme } from "../../branding/branding.ts";
import type { PageContext } from "../page.ts";

export const brandingPath = "/branding";
/** Paper is light. */
export const prefersDark = "screen and (prefers-color-scheme: dark)";

export function brandingHref({ filename, contentType, content }: BrandingFile): string {
  if (filename === undefined) return `data:${contentType};base64,${content.toString("base64")}`;
  return `${brandingPath}/${filename}`;
}

/** The text of a style sheet that has no address. No text may end the `<style>` element: in a string, `\/` is `/`. */
export function inlineStyle({ style }: Theme): string | undefined {
  if (style === undefined || style.filename !== undefined) return undefined;
  return style.content.toString("utf8").replaceAll(/\r\n?/g, "\n").replaceAll("</", "<\\/");
}

interface LogoProps {
  readonly page: Pick<PageContext, "theme" | "appearance">;
}

/** The mark, and the name and tagline beside it: the instance's own, where it has them. */
export function Wordmark({ page }: LogoProps) {
  const { tagline } = page.appearance;
  return (
    <>
      <Logo page={page} />
      <span class="wordmark-text">
        <span class="wordmark-name" dir="auto">
          {nameOf(page.theme)}
        </span>
        {tagline !== undefined && (
          <span class="wordmark-tagline" dir="auto">
            {tagline}
          </span>
        )}
      </span>
    </>
  );
}

/** An uploaded logo has precedence over the addresses in the settings. */
function Logo({ page: { theme, appearance } }: LogoProps) {
  const { logo, themeMode } = appearance;
  if (theme.logo !== undefined) return <img class="brand-logo" src={brandingHref(theme.logo)} alt="" />;
  const src = themeMode === "dark" ? logo.dark : logo.light;
  if (src === undefined) return <SealMark />;
  const image = <img class="brand-logo" src={src} alt="" />;
  if (themeMode !== "auto" || logo.dark === src) return image;
  return (
    <picture>
      <source srcset={logo.dark} media={prefersDark} />
      {image}
    </picture>
  );
}

/**
 * The mark alone, hidden from screen readers. The style sheet draws it: programs take the first drawing in the page
 * of a new link for its QR code.
 */
export function SealMark() {
  return <span class="seal-mark" aria-hidden="true" />;
}
