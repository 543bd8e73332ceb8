import { type BrandingFile, nameOf, type Theme } from "../../branding/branding.ts";

export const brandingPath = "/branding";

export function brandingHref(file: Pick<BrandingFile, "filename">): string {
  return `${brandingPath}/${file.filename}`;
}

/** The mark and the name beside it: the instance's own, where it has them. */
export function Wordmark({ theme }: { readonly theme: Theme }) {
  return (
    <>
      {theme.logo === undefined ? <SealMark /> : <img class="brand-logo" src={brandingHref(theme.logo)} alt="" />}
      <span class="wordmark-name" dir="auto">
        {nameOf(theme)}
      </span>
    </>
  );
}

/**
 * The mark alone, hidden from screen readers. The style sheet draws it: programs take the first drawing in the page
 * of a new link for its QR code.
 */
export function SealMark() {
  return <span class="seal-mark" aria-hidden="true" />;
}
