/**
 * The first field of the page's form takes the focus, unless the page chooses another element. A form further down than
 * the first screen does not: the page would scroll away from what is above it.
 */
export function focusFirstField(): void {
  if (document.querySelector("[data-focus]") !== null) return;
  const fields = document.querySelectorAll<HTMLElement>(
    "main form:is(.form, .push-form) :is(input:not([type=hidden]), select, textarea)",
  );
  const first = [...fields].find((field) => field.checkVisibility());
  if (first === undefined) return;
  const { top, bottom } = first.getBoundingClientRect();
  if (top >= 0 && bottom <= innerHeight) first.focus();
}
