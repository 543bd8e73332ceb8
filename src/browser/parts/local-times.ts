import { relativeTimes } from "../../base/relative-time.ts";

const refreshMs = 30_000;

/** How the server writes numbers and dates on this page: BCP 47, with the reader's region if it is known. */
export function pageLocale(): string {
  const { lang, dataset } = document.documentElement;
  return dataset.locale ?? lang;
}

/** Rewrites exact times, tooltips included, in the browser's time zone, and keeps relative times current. */
export function localiseTimes(): void {
  localiseExactTimes(document);
  refreshRelativeTimes(pageLocale());
}

/** Once for each part of the page. */
export function localiseExactTimes(root: ParentNode): void {
  const clock = { day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  const format = new Intl.DateTimeFormat(pageLocale(), {
    ...clock,
    year: "numeric",
    month: "long",
    timeZoneName: "short",
  });
  const short = new Intl.DateTimeFormat(pageLocale(), { ...clock, month: "short" });
  for (const time of root.querySelectorAll<HTMLTimeElement>("time[data-local-time]")) {
    const isShort = time.dataset.localTime === "short";
    const date = new Date(time.dateTime);
    time.title = isShort ? format.format(date) : (time.textContent?.trim() ?? "");
    time.textContent = (isShort ? short : format).format(date);
  }
  for (const time of root.querySelectorAll<HTMLTimeElement>("[data-now] time, time[data-relative-time]")) {
    time.title = format.format(new Date(time.dateTime));
  }
}

/**
 * `data-relative-time` of a time, or `data-now` of a table, is the server's time at which it rendered the page; the browser's
 * clock may be wrong.
 */
function refreshRelativeTimes(tag: string): void {
  const times = [...document.querySelectorAll<HTMLTimeElement>("time[data-relative-time], [data-now] time")];
  if (times.length === 0) return;
  const openedAt = performance.now();
  const format = relativeTimes(tag);
  setInterval(() => {
    for (const time of times) {
      const renderedAt = time.dataset.relativeTime ?? time.closest<HTMLElement>("[data-now]")?.dataset.now;
      const now = Number(renderedAt) + performance.now() - openedAt;
      const text = format(Date.parse(time.dateTime), now);
      if (time.textContent !== text) time.textContent = text;
    }
  }, refreshMs);
}
