/** A preset that is chosen changes the form in place. What was typed stays, except for what the preset names. */
export function enablePresets(): void {
  const choice = document.querySelector<HTMLSelectElement>("select[data-presets]");
  if (choice === null) return;
  const button = choice.parentElement?.querySelector("button");
  if (button) button.hidden = true;
  choice.addEventListener("change", () => {
    const { kind, values = "{}", labels } = choice.selectedOptions[0]?.dataset ?? {};
    const tab = document.querySelector<HTMLButtonElement>(`#push_kinds button[value="${kind}"]:not([aria-current])`);
    tab?.click();
    for (const [name, value] of Object.entries<string | boolean>(JSON.parse(values))) setValue(`push[${name}]`, value);
    const fields = document.querySelector<HTMLInputElement>("input[data-fields]");
    if (fields !== null && labels !== undefined) {
      fields.dataset.labels = labels;
      fields.dispatchEvent(new Event("change"));
    }
    choice.focus();
  });
}

function setValue(name: string, value: string | boolean): void {
  const isBox = typeof value === "boolean";
  const controls = document.querySelectorAll<HTMLInputElement>(`[name="${name}"]:not([type="hidden"])`);
  for (const control of controls) {
    if (isBox) control.checked = value;
    else control.value = value;
    for (const type of ["input", "change"]) control.dispatchEvent(new Event(type, { bubbles: true }));
  }
}
