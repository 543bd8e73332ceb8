/** Shows, among the elements with this data attribute, those with this value. */
export function showOnly(attribute: string, value: string | undefined, root: ParentNode = document): void {
  for (const element of root.querySelectorAll<HTMLElement>(`[${attribute}]`)) {
    element.hidden = element.getAttribute(attribute) !== value;
  }
}

/** Unchanged text is not announced again. */
export function say(element: Element | null | undefined, text: string): void {
  if (element && element.textContent !== text) element.textContent = text;
}
