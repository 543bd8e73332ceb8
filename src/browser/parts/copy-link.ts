import { tell, write } from "./copy.ts";

/**
 * Links with `data-copy-link` lead to a page that shows an address to copy; with a script they copy it here. Where that
 * is refused, the page is shown after all.
 */
export function enableCopyLinks(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-copy-link]")) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      void copyOrFollow(link);
    });
  }
}

async function copyOrFollow(link: HTMLAnchorElement): Promise<void> {
  if (await write(link.dataset.copyLink ?? "")) tell(link, true);
  else location.assign(link.href);
}
