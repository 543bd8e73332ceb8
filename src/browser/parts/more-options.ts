/**
 * Keeps the line that options are folded behind current: each part has `data-set-by`, the id of the control that decides
 * whether it is shown. Options with a control that the browser refuses open, because it could not show what is wrong.
 */
export function keepMoreOptionsCurrent(): void {
  for (const group of document.querySelectorAll<HTMLDetailsElement>("details[data-more]")) {
    const update = () => {
      for (const part of group.querySelectorAll<HTMLElement>("[data-set-by]")) {
        const count = countIn(document.getElementById(part.dataset.setBy ?? ""));
        part.hidden = count === 0;
        const { template } = part.dataset;
        if (template !== undefined) part.textContent = template.replace("{count}", String(count));
      }
    };
    group.addEventListener("input", update);
    group.addEventListener("invalid", () => (group.open = true), { capture: true });
    update();
  }
}

/** The addresses in a field for email addresses; 1 or 0 for other controls. */
function countIn(control: HTMLElement | null): number {
  if (control instanceof HTMLInputElement && control.type === "checkbox") return control.checked ? 1 : 0;
  if (!(control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement)) return 0;
  if (control.type === "email") return control.value.split(",").filter((address) => address.trim() !== "").length;
  return control.value === "" ? 0 : 1;
}
