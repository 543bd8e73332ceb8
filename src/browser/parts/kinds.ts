import { hasFiles, isPastedFile } from "./files.ts";

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

const payloadName = "push[payload]";

/**
 * The tabs of the form show another kind in this page, from its template, and keep what was typed.
 * @param enable makes the controls of a part work; called once for each part.
 */
export function enableKindTabs(enable: (part: ParentNode) => void): void {
  const tabs = [...document.querySelectorAll<HTMLButtonElement>("button[data-href][form]")];
  const form = tabs[0]?.form;
  const kind = form?.elements.namedItem("push[kind]");
  if (!(kind instanceof HTMLInputElement)) return;
  const partsOfKind = new Map<string, readonly HTMLElement[]>();
  const payload = new CarriedPayload();

  const show = (tab: HTMLButtonElement) => {
    const known = partsOfKind.get(tab.value);
    const parts = known ?? templateParts(tab.value);
    payload.read();
    partsOfKind.set(kind.value, parts.map(replaceWith));
    kind.value = tab.value;
    if (known === undefined) {
      for (const part of parts) enable(part);
    }
    payload.write();
    for (const other of tabs) {
      if (other === tab) other.setAttribute("aria-current", "true");
      else other.removeAttribute("aria-current");
    }
    history.replaceState(history.state, "", tab.dataset.href);
  };

  const files = tabs.find(({ value }) => value === "file");
  const takesFiles = [document, ...templateParts("file")].some((part) => part.querySelector("[data-files]") !== null);
  listenForFiles(takesFiles, () => {
    if (files === undefined || kind.value === files.value) return;
    show(files);
    focusFirst();
  });

  for (const tab of tabs) {
    tab.addEventListener("click", (event) => {
      event.preventDefault();
      if (tab.value !== kind.value) show(tab);
      focusFirst();
    });
  }
}

/**
 * Files that are dropped or pasted on the form of another kind. It listens before the file picker, which is enabled by
 * `showFiles` and takes them then.
 */
function listenForFiles(takesFiles: boolean, showFiles: () => void): void {
  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event.dataTransfer)) return;
    // Otherwise the browser would open the file in place of the page, with everything that was typed.
    event.preventDefault();
    if (!takesFiles && event.dataTransfer !== null) event.dataTransfer.dropEffect = "none";
  });
  if (!takesFiles) return;
  document.addEventListener("drop", ({ dataTransfer }) => hasFiles(dataTransfer) && showFiles(), { capture: true });
  document.addEventListener("paste", (event) => isPastedFile(event) && showFiles(), { capture: true });
}

function templateParts(kind: string): readonly HTMLElement[] {
  const template = document.querySelector<HTMLTemplateElement>(`template[data-kind="${kind}"]`);
  return [...(template?.content.children ?? [])].filter((part) => part instanceof HTMLElement);
}

/** @returns the part of the kind that was shown. */
function replaceWith(part: HTMLElement): HTMLElement {
  const shown = document.querySelector<HTMLElement>(`[data-part="${part.dataset.part}"]`);
  if (shown === null) return part;
  for (const control of controlsIn(part)) {
    const changed = controlsIn(shown).find(({ name, type }) => name === control.name && type === control.type);
    if (changed !== undefined && isChanged(changed)) copy(changed, control);
  }
  shown.replaceWith(part);
  // The line of the options follows these controls.
  part.dispatchEvent(new Event("input", { bubbles: true }));
  return shown;
}

/** The fields with a value that every kind has. */
function controlsIn(part: HTMLElement): readonly Control[] {
  const controls = part.querySelectorAll<Control>("input, textarea, select");
  return [...controls].filter(
    ({ name, type }) => name.startsWith("push[") && name !== payloadName && type !== "file" && type !== "hidden",
  );
}

/** What nobody has changed is left to the default of each kind. */
function isChanged(control: Control): boolean {
  if (control instanceof HTMLSelectElement) {
    return [...control.options].some(({ selected, defaultSelected }) => selected !== defaultSelected);
  }
  if (control instanceof HTMLInputElement && control.type === "checkbox") {
    return control.checked !== control.defaultChecked;
  }
  return control.value !== control.defaultValue;
}

function copy(from: Control, to: Control): void {
  if (from instanceof HTMLInputElement && to instanceof HTMLInputElement) to.checked = from.checked;
  const isMissing = to instanceof HTMLSelectElement && ![...to.options].some(({ value }) => value === from.value);
  if (isMissing) return;
  to.value = from.value;
  to.dispatchEvent(new Event("change"));
}

/** What was typed as the secret. A field that cannot hold all of it, such as line ends in an address, does not change it. */
class CarriedPayload {
  #text = "";
  #written = "";

  #field(): HTMLInputElement | HTMLTextAreaElement | null {
    return document.querySelector(`[name="${payloadName}"]`);
  }

  read(): void {
    const field = this.#field();
    if (field !== null && field.value !== this.#written) this.#text = field.value;
  }

  write(): void {
    const field = this.#field();
    if (field === null) return;
    field.value = this.#text;
    this.#written = field.value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

function focusFirst(): void {
  document.querySelector<HTMLElement>('[data-part="content"] :is(input, textarea, a)')?.focus();
}
