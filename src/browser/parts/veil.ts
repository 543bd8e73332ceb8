/** The secrets among fields are veiled again when their tab is left. */
export function enableFieldVeils(): void {
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "hidden") return;
    for (const veil of document.querySelectorAll<HTMLDetailsElement>("details[data-field-veil]")) veil.open = false;
  });
}

/**
 * Replaces the summary of the veil with the button among the actions. The secret is veiled again when its tab is left (threat:
 * the next person at the screen), unless the reader keeps it open.
 */
export function enableVeil(): void {
  const veil = document.querySelector<HTMLDetailsElement>("details[data-veil]");
  const button = document.querySelector<HTMLButtonElement>("button[data-unveils]");
  const label = button?.querySelector("[data-unveils-label]");
  const keepsOpen = document.getElementById("keep_open");
  if (veil === null || button === null || label === null || label === undefined) return;
  const labels = { closed: label.textContent, open: button.dataset.labelHide ?? "" };
  const show = () => {
    label.textContent = veil.open ? labels.open : labels.closed;
    button.setAttribute("aria-expanded", String(veil.open));
  };
  button.addEventListener("click", () => {
    veil.open = !veil.open;
  });
  veil.addEventListener("toggle", show);
  document.addEventListener("visibilitychange", () => {
    const isKept = keepsOpen instanceof HTMLInputElement && keepsOpen.checked;
    if (document.visibilityState === "hidden" && !isKept) veil.open = false;
  });
  const summary = veil.querySelector("summary");
  const hadFocus = document.activeElement === summary;
  button.hidden = false;
  if (hadFocus) button.focus();
  summary?.setAttribute("hidden", "");
  show();
}
