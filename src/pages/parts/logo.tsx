import { type BrandingFile, nameOf, type Theme } from "../../branding/branding.ts";
import { type PageContext, usePage } from "../page.ts";

export const brandingPath = "/branding";
/** Paper is light. */
export const prefersDark = "screen and (prefers-color-scheme: dark)";

export function brandingHref({ filename, contentType, content }: BrandingFile): string {
  if (filename === undefined) return `data:${contentType};base64,${content.toString("base64")}`;
  return `${brandingPath}/${filename}`;
}

/** The style sheets of a theme, in their order. */
export function styleSheetsOf({ accent, style }: Theme): readonly BrandingFile[] {
  return [accent, style].filter((sheet) => sheet !== undefined);
}

/** The text of the style sheets without an address. No text may end the `<style>` element: in a string, `\/` is `/`. */
export function inlineStyle(theme: Theme): string | undefined {
  const sheets = styleSheetsOf(theme).filter(({ filename }) => filename === undefined);
  if (sheets.length === 0) return undefined;
  const text = sheets.map(({ content }) => content.toString("utf8")).join("\n");
  return text.replaceAll(/\r\n?/g, "\n").replaceAll("</", "<\\/");
}

/** The instance's own logo, or the product's mark and the name beside it; and the tagline. Most logos contain the name. */
export function Wordmark() {
  const page = usePage();
  const { tagline } = page.appearance;
  const name = nameOf(page.theme);
  return (
    <>
      {hasOwnLogo(page) ? <OwnLogo alt={name} /> : <SealMark />}
      <span class="wordmark-text">
        {!hasOwnLogo(page) && (
          <span class="wordmark-name" dir="auto">
            {name}
          </span>
        )}
        {tagline !== undefined && (
          <span class="wordmark-tagline" dir="auto">
            {tagline}
          </span>
        )}
      </span>
    </>
  );
}

/** The mark at the top of a card, hidden from screen readers. */
export function Emblem() {
  const page = usePage();
  return hasOwnLogo(page) ? (
    <div class="emblem-logo">
      <OwnLogo alt="" />
    </div>
  ) : (
    <div class="emblem">
      <SealMark />
    </div>
  );
}

function hasOwnLogo({ theme, appearance }: Pick<PageContext, "theme" | "appearance">): boolean {
  return theme.logo !== undefined || appearance.logo.light !== undefined || appearance.logo.dark !== undefined;
}

/** An uploaded logo has precedence over the addresses in the settings. */
function OwnLogo({ alt }: { readonly alt: string }) {
  const { theme, appearance } = usePage();
  const { logo, themeMode } = appearance;
  if (theme.logo !== undefined) return <img class="brand-logo" src={brandingHref(theme.logo)} alt={alt} />;
  const src = themeMode === "dark" ? logo.dark : logo.light;
  const image = <img class="brand-logo" src={src} alt={alt} />;
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
function SealMark() {
  return <span class="seal-mark" aria-hidden="true" />;
}
