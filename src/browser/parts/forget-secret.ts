/**
 * Some browsers keep a page that is left whole in memory, whatever its Cache-Control says, and their back button shows
 * it again (threat: whoever sits down next). What was opened goes with the leaving; coming back asks the server anew.
 */
export function forgetSecretWhenLeft(): void {
  const secret = document.querySelector("[data-secret]");
  if (secret === null) return;
  addEventListener("pagehide", (event) => {
    if (event.persisted) secret.remove();
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.replace(location.href);
  });
}
