import { oneTimeCode } from "@sealpush/age/one-time-code";
import { say } from "./elements.ts";
import { fillIn } from "./sizes.ts";

/** Shows the current one-time code of each row with a seed, and how long it is still valid. */
export function enableOneTimeCodes(root: ParentNode): void {
  const rows = [...root.querySelectorAll<HTMLElement>("[data-one-time]")];
  const update = () => rows.forEach(showCode);
  if (rows.length === 0) return;
  setInterval(update, 1_000);
  update();
}

function showCode(row: HTMLElement): void {
  const seed = row.querySelector("details .exact-text")?.textContent ?? "";
  const found = oneTimeCode(seed, Date.now());
  const shown = row.querySelector<HTMLElement>("[data-one-time-code]");
  const output = shown?.querySelector(".one-time-code");
  const left = shown?.querySelector<HTMLElement>("[data-one-time-left]");
  if (found === undefined || !shown || !output || !left) return;
  shown.hidden = false;
  say(output, found.code);
  left.textContent = fillIn(left.dataset.oneTimeLeft, { seconds: String(found.secondsLeft) });
}
