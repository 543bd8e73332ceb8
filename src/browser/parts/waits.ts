import { say } from "./elements.ts";

const tickMs = 250;

/**
 * A notice with `data-wait-form` says that the form with that id can be sent in `data-wait-seconds`. Its submit button counts
 * down and works again afterwards.
 */
export function enableWaits(): void {
  for (const notice of document.querySelectorAll<HTMLElement>("[data-wait-form]")) {
    const form = document.getElementById(notice.dataset.waitForm ?? "");
    const button = form?.querySelector<HTMLButtonElement>('button[type="submit"]');
    if (button !== null && button !== undefined) countDown(notice, button);
  }
}

function countDown(notice: HTMLElement, button: HTMLButtonElement): void {
  // A timer is not read out at each change, unlike the notice.
  const left = document.createElement("span");
  left.role = "timer";
  left.className = "wait";
  button.append(left);
  button.disabled = true;
  // The clock goes on while the browser has suspended the page.
  const endsAt = Date.now() + Number(notice.dataset.waitSeconds) * 1_000;
  const tick = () => {
    const seconds = Math.ceil((endsAt - Date.now()) / 1_000);
    if (seconds > 0) {
      say(left, `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);
      return;
    }
    clearInterval(timer);
    left.remove();
    button.disabled = false;
    notice.textContent = notice.dataset.waitOver ?? "";
  };
  const timer = setInterval(tick, tickMs);
  tick();
}
