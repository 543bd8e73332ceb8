type Editor = typeof import("../field-editor.ts");

/** "Add fields" of the form: loads the editor, also when the form comes back with fields. */
export function enableFieldChoice(root: ParentNode): void {
  const stored = root.querySelector<HTMLInputElement>("input[data-fields]");
  const button = root.querySelector<HTMLButtonElement>("button[data-add-fields]");
  if (stored === null || button === null) return;
  button.addEventListener("click", () => void open(stored, button));
  stored.addEventListener("change", () => void open(stored, button));
  if (stored.value !== "" || stored.dataset.labels !== undefined) void open(stored, button);
}

/** @param stored the hidden field with the list as JSON. */
async function open(stored: HTMLInputElement, button: HTMLButtonElement): Promise<void> {
  button.disabled = true;
  try {
    const [editor, parts]: [Editor, HTMLElement] = await Promise.all([
      import(stored.dataset.fields ?? ""),
      loadParts(),
    ]);
    editor.openFieldEditor(stored, parts);
  } catch (error) {
    // The network failed: what was typed is still in the form, and the button can be pressed again.
    if (!(error instanceof TypeError)) throw error;
  } finally {
    button.disabled = false;
  }
}

/** The editor in the language of this page. @throws TypeError if it cannot be loaded. */
async function loadParts(): Promise<HTMLElement> {
  const answer = await fetch(`/?fields=1&locale=${document.documentElement.lang}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const template = page.querySelector<HTMLTemplateElement>("template[data-field-editor]");
  if (template === null) throw new TypeError("The answer has no editor.");
  const root = document.createElement("div");
  root.className = "fields-editor";
  root.dataset.problems = template.dataset.problems ?? "{}";
  root.append(document.importNode(template.content, true));
  return root;
}
