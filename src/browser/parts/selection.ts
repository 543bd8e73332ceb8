import { pageLocale } from "./local-times.ts";

/** The box with `data-select-all` selects all other boxes of its form; `data-selected-count` shows how many are selected. */
export function enableSelection(): void {
  for (const all of document.querySelectorAll<HTMLInputElement>("input[data-select-all]")) {
    const { form } = all;
    if (form === null) continue;
    const boxes = [...form.querySelectorAll<HTMLInputElement>("tbody input[type=checkbox]")];
    const count = form.querySelector("[data-selected-count]");
    const format = new Intl.NumberFormat(pageLocale());
    const update = () => {
      const selected = boxes.filter((box) => box.checked).length;
      all.disabled = boxes.length === 0;
      all.checked = selected > 0 && selected === boxes.length;
      all.indeterminate = selected > 0 && selected < boxes.length;
      if (count !== null) count.textContent = format.format(selected);
    };
    all.addEventListener("change", () => {
      for (const box of boxes) box.checked = all.checked;
      update();
    });
    for (const box of boxes) box.addEventListener("change", update);
    // The back button restores the boxes.
    addEventListener("pageshow", update);
    update();
  }
}
