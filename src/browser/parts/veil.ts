/** The secrets among fields are veiled again when their tab is left. */
export function enableFieldVeils(): void {
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "hidden") return;
    for (const veil of document.querySelectorAll<HTMLDetailsElement>("details[data-field-veil]")) veil.open = false;
  });
}

/**
 * The secret is veiled again when its tab is left (threat: the next person at the screen), unless the reader keeps it open.
 */
export function enableVeil(): void {
  const keepsOpen = document.getElementById("keep_open");
  document.addEventListener("visibilitychange", () => {
    const isKept = keepsOpen instanceof HTMLInputElement && keepsOpen.checked;
    const veil = document.querySelector<HTMLDetailsElement>("details[data-veil]");
    if (document.visibilityState === "hidden" && !isKept && veil !== null) veil.open = false;
  });
}
