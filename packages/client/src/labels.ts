import { readLink } from "./link.ts";
import { isSealedLabel } from "./sealed-label.ts";

/** What only the owner of a push sees; empty: there is none. */
interface Labels {
  readonly name: string;
  readonly note: string;
}

/** Opens the sealed name and note of an own push. What does not open with the key in the link stays sealed. */
export async function openLabels<Labelled extends Labels>(push: Labelled, link: string): Promise<Labelled> {
  if (![push.name, push.note].some(isSealedLabel)) return push;
  const { openLabel } = await import("./end-to-end.ts");
  const fragment = readLink(link)?.fragment ?? "";
  return {
    ...push,
    name: await openLabel(push.name, "name", fragment),
    note: await openLabel(push.note, "note", fragment),
  };
}
