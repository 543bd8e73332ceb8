import { type BrandingFile, type Look, nameOf } from "../../branding/branding.ts";

// A wax seal: fourteen lobes around the letter S.
const edge =
  "M19.53 4.4Q24 -0.48 28.47 4.4Q34.62 1.95 36.53 8.29Q43.14 8.74 42.11 15.28Q47.86 18.55 44.1 24Q47.86 29.45 42.11 32.72Q43.14 39.26 36.53 39.71Q34.62 46.05 28.47 43.6Q24 48.48 19.53 43.6Q13.38 46.05 11.47 39.71Q4.86 39.26 5.89 32.72Q0.14 29.45 3.9 24Q0.14 18.55 5.89 15.28Q4.86 8.74 11.47 8.29Q13.38 1.95 19.53 4.4Z";
const letter =
  "M30.6 18.3c-1.2-2.5-3.6-3.8-6.6-3.8-3.9 0-6.7 2-6.7 5 0 6.9 13.9 2.9 13.9 9.4 0 3-3 4.9-7.2 4.9-3.3 0-6-1.5-7.2-4.2";

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

/** The mark alone; says nothing to a screen reader. */
export function SealMark() {
  return (
    <svg class="seal-mark" viewBox="0 0 48 48" width="32" height="32" aria-hidden="true" focusable="false">
      <path class="seal-mark-wax" d={edge} />
      <circle class="seal-mark-rim" cx="24" cy="24" r="16.4" fill="none" stroke-width="1.1" />
      <path class="seal-mark-letter" d={letter} fill="none" stroke-width="3.6" stroke-linecap="round" />
    </svg>
  );
}
