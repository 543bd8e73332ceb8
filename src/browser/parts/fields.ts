import { pageLocale } from "./local-times.ts";
/** A field with `data-select` selects itself when it gets the focus. */
export function enableSelectOnFocus(): void {
  for (const field of document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("[data-select]")) {
    field.addEventListener("focus", () => field.select());
  }
}

/** Buttons with `data-show` show and hide the value of the password field with that id. */
export function enableShowButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-show]")) {
    const field = document.getElementById(button.dataset.show ?? "");
    const label = button.querySelector("[data-show-label]");
    if (!(field instanceof HTMLInputElement) || label === null) continue;
    const labels = { password: label.textContent, text: button.dataset.labelHide ?? "" };
    new MutationObserver(() => {
      const shown = field.type === "text";
      label.textContent = shown ? labels.text : labels.password;
    }).observe(field, { attributeFilter: ["type"] });
    button.addEventListener("click", () => {
      field.type = field.type === "text" ? "password" : "text";
      field.focus();
    });
    // The browser would remember the value of a text field.
    field.form?.addEventListener("submit", () => {
      field.type = "password";
    });
  }
}

// Longer than any double click, short enough that a cancelled request can be sent again.
const sentForMs = 3_000;

/** Sends a form once: a second click on "open" would claim a second view, or find a push with one view gone. */
export function sendFormsOnce(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[method="post"]')) {
    let sent = false;
    const forget = () => {
      sent = false;
    };
    form.addEventListener("submit", (event) => {
      if (sent) event.preventDefault();
      else setTimeout(forget, sentForMs);
      sent = true;
    });
    addEventListener("pageshow", forget);
  }
}

/** Counts code points, as the server does. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Live counts beside their fields; screen readers announce only that the limit is exceeded. */
export function enableCounters(): void {
  for (const counter of document.querySelectorAll<HTMLElement>("[data-counter-of]")) {
    const field = document.getElementById(counter.dataset.counterOf ?? "");
    const number = counter.querySelector("[data-counter-number]");
    const over = counter.querySelector('[role="status"]');
    if (!(field instanceof HTMLTextAreaElement) || number === null || over === null) continue;
    const limit = Number(counter.dataset.limit);
    const format = new Intl.NumberFormat(pageLocale());
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

const units = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

function formatSize(bytes: number, tag: string): string {
  const step = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const unit = units[step] ?? "byte";
  const format = new Intl.NumberFormat(tag, {
    style: "unit",
    unit,
    unitDisplay: step === 0 ? "long" : "short",
    maximumFractionDigits: 1,
  });
  return format.format(bytes / 1024 ** step);
}

/** Lists names and sizes of the files that are chosen in the field with the id in `data-chosen-files`. */
export function listChosenFiles(): void {
  const tag = pageLocale();
  for (const list of document.querySelectorAll<HTMLElement>("[data-chosen-files]")) {
    const field = document.getElementById(list.dataset.chosenFiles ?? "");
    if (!(field instanceof HTMLInputElement)) continue;
    const update = () => {
      const rows = [...(field.files ?? [])].map((file) => {
        const row = document.createElement("li");
        const name = document.createElement("bdi");
        name.textContent = file.name;
        const bytes = document.createElement("span");
        bytes.textContent = formatSize(file.size, tag);
        row.append(name, bytes);
        return row;
      });
      list.replaceChildren(...rows);
      list.hidden = rows.length === 0;
    };
    field.addEventListener("change", update);
    update();
  }
}
