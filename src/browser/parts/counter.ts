/** Code points, as the server counts them: a character outside the basic plane is one. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Live counts beside their fields, said aloud only when the limit is passed. */
export function enableCounters(): void {
  for (const counter of document.querySelectorAll<HTMLElement>("[data-counter-of]")) {
    const field = document.getElementById(counter.dataset.counterOf ?? "");
    const number = counter.querySelector("[data-counter-number]");
    const over = counter.querySelector('[role="status"]');
    if (!(field instanceof HTMLTextAreaElement) || number === null || over === null) continue;
    const limit = Number(counter.dataset.limit);
    const format = new Intl.NumberFormat(`${document.documentElement.lang}-u-nu-latn`);
    const update = () => {
      const count = countCharacters(field.value);
      number.textContent = `${format.format(count)} / ${format.format(limit)}`;
      const problem = count > limit ? (counter.dataset.over ?? "") : "";
      if (over.textContent !== problem) over.textContent = problem;
      counter.toggleAttribute("data-exceeded", count > limit);
    };
    field.addEventListener("input", update);
    update();
    counter.hidden = false;
  }
}
