import { relativeTimes } from "../../base/relative-time.ts";

const refreshMs = 30_000;

/** Rewrites times in the reader's own zone; the time in UTC stays as a tooltip. How long ago something was stays true. */
export function localiseTimes(): void {
  const tag = `${document.documentElement.lang}-u-nu-latn`;
  localiseExactTimes(tag);
  refreshRelativeTimes(tag);
}

function localiseExactTimes(tag: string): void {
  const format = new Intl.DateTimeFormat(tag, {
    year: "numeric",
    month: "long",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  });
  for (const time of document.querySelectorAll<HTMLTimeElement>("time[data-local-time]")) {
    time.title = time.textContent?.trim() ?? "";
    time.textContent = format.format(new Date(time.dateTime));
  }
}

/** `data-relative-time` is the server's clock when it wrote the page: the reader's own may be wrong. */
function refreshRelativeTimes(tag: string): void {
  const times = [...document.querySelectorAll<HTMLTimeElement>("time[data-relative-time]")];
  if (times.length === 0) return;
  const openedAt = performance.now();
  const tell = relativeTimes(tag);
  setInterval(() => {
    for (const time of times) {
      const now = Number(time.dataset.relativeTime) + performance.now() - openedAt;
      const told = tell(Date.parse(time.dateTime), now);
      if (time.textContent !== told) time.textContent = told;
    }
  }, refreshMs);
}
