import { fieldTypes, findFieldProblems, type PushField } from "@sealpush/age/fields";

/** The rows of a structured secret in the form. The hidden field `stored` always has what they say. */
export function openFieldEditor(stored: HTMLInputElement, root: HTMLElement): void {
  if (stored.form === null || stored.nextElementSibling?.matches(".fields-editor") === true) return;
  new FieldEditor(root, stored, stored.form).open();
}

class FieldEditor {
  readonly #root: HTMLElement;
  readonly #stored: HTMLInputElement;
  readonly #form: HTMLFormElement;
  readonly #listening = new AbortController();
  #isTried = false;
  #added = 0;

  constructor(root: HTMLElement, stored: HTMLInputElement, form: HTMLFormElement) {
    this.#root = root;
    this.#stored = stored;
    this.#form = form;
  }

  open(): void {
    const { signal } = this.#listening;
    this.#stored.after(this.#root);
    this.#showText(false);
    for (const field of readStored(this.#stored.value)) this.#add(field);
    if (this.#rows.length === 0) this.#add();
    this.#root.addEventListener("click", (event) => this.#click(event.target));
    this.#root.addEventListener("input", () => this.#update());
    this.#stored.addEventListener("change", () => this.#useLabels(), { signal });
    this.#useLabels();
    // Before the form is sent or sealed.
    this.#form.addEventListener("submit", (event) => this.#check(event), { capture: true, signal });
    this.#form.addEventListener("reset", () => this.#close(), { signal });
    this.#update();
    this.#rows[0]?.querySelector<HTMLElement>("[data-label]")?.focus();
  }

  get #rows(): readonly HTMLElement[] {
    return [...this.#root.querySelectorAll<HTMLElement>(".field-row")];
  }

  #click(target: EventTarget | null): void {
    const button = target instanceof Element ? target.closest("button") : null;
    if (button === null) return;
    const { template } = button.dataset;
    if (template !== undefined) this.#useTemplate(JSON.parse(template));
    else if (button.matches("[data-add]")) this.#add()?.querySelector<HTMLElement>("[data-label]")?.focus();
    else if (button.matches("[data-remove]")) this.#remove(button);
    else if (button.matches("[data-use-text]")) {
      this.#close();
      this.#text?.focus();
      return;
    }
    this.#update();
  }

  #remove(button: HTMLElement): void {
    const row = button.closest<HTMLElement>(".field-row");
    if (row === null) return;
    const at = this.#rows.indexOf(row);
    row.remove();
    // The focus would be lost with the button.
    const next = this.#rows[Math.min(at, this.#rows.length - 1)]?.querySelector<HTMLElement>("[data-remove]");
    (next ?? this.#root.querySelector<HTMLElement>("[data-add]"))?.focus();
  }

  /** The fields of a preset, once. */
  #useLabels(): void {
    const { labels } = this.#stored.dataset;
    if (labels === undefined) return;
    delete this.#stored.dataset.labels;
    this.#useTemplate(JSON.parse(labels));
    this.#update();
  }

  /** Rows without a value make room; everything typed stays. */
  #useTemplate(labels: readonly (readonly [label: string, type: string])[]): void {
    for (const row of this.#rows) {
      if (isEmpty(row)) row.remove();
    }
    const present = new Set(this.#rows.map((row) => partsOf(row).label.value.toLowerCase()));
    const added = labels.filter(([label]) => !present.has(label.toLowerCase()));
    const rows = added.map(([label, type]) => this.#add({ label, value: "", type: typeNamed(type) }));
    for (const row of rows) row?.toggleAttribute("data-suggested", true);
    const [first] = rows;
    if (first) partsOf(first).value.focus();
  }

  #add(field?: PushField): HTMLElement | undefined {
    const template = this.#root.querySelector<HTMLTemplateElement>("template[data-row]");
    const row = template?.content.firstElementChild?.cloneNode(true);
    if (!(row instanceof HTMLElement)) return undefined;
    if (field !== undefined) {
      const { label, type, value } = partsOf(row);
      label.value = field.label;
      type.value = field.type;
      value.value = field.value;
    }
    // All rows have controls of the same names.
    row.role = "group";
    const problem = row.querySelector("[data-row-problem]");
    if (problem !== null) {
      this.#added += 1;
      problem.id = `field_row_${this.#added}_problem`;
      for (const control of row.querySelectorAll("[data-label], [data-value]")) {
        control.setAttribute("aria-describedby", problem.id);
      }
    }
    this.#root.querySelector("[data-rows]")?.append(row);
    return row;
  }

  /** The rows that count: those of a template that nobody has filled in are left out. */
  #filled(): readonly HTMLElement[] {
    return this.#rows.filter((row) => !isEmpty(row));
  }

  #update(): void {
    for (const row of this.#rows) row.ariaLabel = partsOf(row).label.value;
    const fields = this.#filled().map(fieldOf);
    this.#stored.value = fields.length === 0 ? "" : JSON.stringify(fields);
    if (this.#isTried) this.#showProblems();
  }

  #check(event: Event): void {
    // Another kind of push is shown.
    if (!this.#root.isConnected) return;
    this.#update();
    this.#isTried = true;
    const first = this.#showProblems();
    if (first === undefined) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    first.focus();
  }

  /** @returns the first control with a problem. */
  #showProblems(): HTMLElement | undefined {
    const rows = this.#filled();
    for (const row of this.#rows) showProblem(row, []);
    const texts: Readonly<Record<string, string>> = JSON.parse(this.#root.dataset.problems ?? "{}");
    const found = findFieldProblems(rows.map(fieldOf));
    const invalid: HTMLElement[] = [];
    for (const problem of found) {
      const row = "at" in problem ? rows[problem.at] : this.#rows[0];
      if (row === undefined) continue;
      const { label, value } = partsOf(row);
      const control = problem.problem.startsWith("label") ? label : value;
      control.setAttribute("aria-invalid", "true");
      showProblem(row, [...problemsIn(row), texts[problem.problem] ?? ""]);
      invalid.push(control);
    }
    if (found.length > 0 && invalid.length === 0) {
      const row = this.#add();
      if (row !== undefined) invalid.push(partsOf(row).label);
    }
    return invalid[0];
  }

  #close(): void {
    this.#listening.abort();
    this.#stored.value = "";
    this.#root.remove();
    this.#showText(true);
  }

  get #text(): HTMLTextAreaElement | undefined {
    const text = this.#form.elements.namedItem("push[payload]");
    return text instanceof HTMLTextAreaElement ? text : undefined;
  }

  /** The text is not sent while there are fields, and comes back as it was. */
  #showText(isShown: boolean): void {
    const text = this.#text;
    if (text === undefined) return;
    text.disabled = !isShown;
    text.closest(".counted")?.toggleAttribute("hidden", !isShown);
    const generator = document.querySelector(`[data-generator="${text.id}"]`);
    generator?.toggleAttribute("hidden", !isShown);
  }
}

function partsOf(row: HTMLElement) {
  const [label, type, value] = [
    row.querySelector<HTMLInputElement>("[data-label]"),
    row.querySelector<HTMLSelectElement>("[data-type]"),
    row.querySelector<HTMLTextAreaElement>("[data-value]"),
  ];
  if (label === null || type === null || value === null) throw new Error("A row of the form has no controls.");
  return { label, type, value };
}

/** A label that a template has suggested is nothing that somebody typed. */
function isEmpty(row: HTMLElement): boolean {
  const { label, value } = partsOf(row);
  return value.value === "" && (label.value === "" || row.hasAttribute("data-suggested"));
}

function fieldOf(row: HTMLElement): PushField {
  const { label, type, value } = partsOf(row);
  const isCode = type.value === "otp";
  return { label: label.value, value: isCode ? value.value.trim() : value.value, type: typeNamed(type.value) };
}

const typeNamed = (name: string) => fieldTypes.find((type) => type === name) ?? "text";

function problemsIn(row: HTMLElement): readonly string[] {
  const text = row.querySelector("[data-row-problem]")?.textContent ?? "";
  return text === "" ? [] : [text];
}

function showProblem(row: HTMLElement, problems: readonly string[]): void {
  const shown = row.querySelector<HTMLElement>("[data-row-problem]");
  if (shown === null) return;
  shown.textContent = problems.join(" ");
  shown.hidden = problems.length === 0;
  if (problems.length > 0) return;
  for (const control of row.querySelectorAll("[aria-invalid]")) control.removeAttribute("aria-invalid");
}

function readStored(text: string): readonly PushField[] {
  if (text === "") return [];
  const list: unknown = JSON.parse(text);
  return Array.isArray(list)
    ? list.map(({ label, value, type }) => ({
        label: String(label ?? ""),
        value: String(value ?? ""),
        type: typeNamed(String(type)),
      }))
    : [];
}
