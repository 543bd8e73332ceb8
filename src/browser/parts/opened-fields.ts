import { becomesLink, type PushField } from "@sealpush/age/fields";
import { enableCopyButtons } from "./copy.ts";
import { enableOneTimeCodes } from "./one-time-codes.ts";
import { fillIn } from "./sizes.ts";

/** Shows the fields of an end-to-end push like those that the server knows, from the templates of the page. */
export function showFields(root: ParentNode, fields: readonly PushField[]): void {
  const list = root.querySelector<HTMLElement>("[data-opened-fields]");
  if (list === null) return;
  list.replaceChildren(...fields.flatMap((field, at) => rowOf(root, field, `field_${at}`)));
  list.hidden = false;
  enableCopyButtons(list);
  enableOneTimeCodes(list);
}

const namedAttributes = ["id", "data-copy", "aria-label", "aria-describedby"];

function rowOf(root: ParentNode, { label, value, type }: PushField, id: string): readonly Node[] {
  const template = root.querySelector<HTMLTemplateElement>(`template[data-field-row="${type}"]`);
  const row = template?.content.cloneNode(true);
  if (!(row instanceof DocumentFragment)) return [];
  for (const element of row.querySelectorAll<HTMLElement>("*")) {
    for (const name of namedAttributes) {
      const text = element.getAttribute(name);
      if (text !== null) element.setAttribute(name, fillIn(text, { [type]: id, label }));
    }
    if (element.matches("[data-scripted]")) element.hidden = false;
    if (element.matches("[data-field-label]")) element.textContent = label;
  }
  const shown = row.getElementById(id);
  if (shown !== null) shown.replaceWith(valueIn(shown, value, type === "text"));
  return [row];
}

function valueIn(element: HTMLElement, value: string, mayBeLink: boolean): HTMLElement {
  if (!mayBeLink || !becomesLink(value)) {
    element.textContent = value;
    return element;
  }
  const link = document.createElement("a");
  link.id = element.id;
  link.className = element.className;
  link.href = value;
  link.target = "_blank";
  link.rel = "noreferrer noopener nofollow";
  link.referrerPolicy = "no-referrer";
  link.textContent = value;
  return link;
}
