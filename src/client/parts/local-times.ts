/** Rewrites times in the reader's own zone; the time in UTC stays as a tooltip. */
export function localiseTimes(): void {
  const format = new Intl.DateTimeFormat(`${document.documentElement.lang}-u-nu-latn`, {
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
