import { type BrandingFile, type Look, nameOf } from "../../branding/branding.ts";

export const brandingPath = "/branding";

export function brandingHref(file: Pick<BrandingFile, "filename">): string {
  return `${brandingPath}/${file.filename}`;
}

/** The mark and the name beside it: the instance's own, where it has them. */
export function Wordmark({ look }: { readonly look: Look }) {
  return (
    <>
      {look.logo === undefined ? <SealMark /> : <img class="brand-logo" src={brandingHref(look.logo)} alt="" />}
      <span class="wordmark-name" dir="auto">
        {nameOf(look)}
      </span>
    </>
  );
}

/**
 * The mark alone; says nothing to a screen reader. The style sheet draws it: programs take the first drawing in the page
 * of a new link for its QR code.
 */
export function SealMark() {
  return <span class="seal-mark" aria-hidden="true" />;
}
