/** A field with `data-select` selects itself when it gets the focus. */
export function enableSelectOnFocus(): void {
  for (const field of document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("[data-select]")) {
    field.addEventListener("focus", () => field.select());
  }
}

/** Buttons with `data-show` show and hide what stands in the password field of that id. */
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
    // A field left readable would be kept among the browser's remembered inputs.
    field.form?.addEventListener("submit", () => {
      field.type = "password";
    });
  }
}

// Longer than any double click, short enough that a request somebody stopped can be sent again.
const sentForMs = 3_000;

/**
 * A form is sent once: a second click on "open" would claim a second view, and of a push with one view it would show
 * nothing at all.
 */
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
