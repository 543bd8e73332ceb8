const units = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

/** @param per "-per-second" for a rate. */
export function formatSize(bytes: number, tag: string, per: "" | "-per-second" = ""): string {
  const step = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const unit = `${units[step] ?? "byte"}${per}`;
  const format = new Intl.NumberFormat(tag, {
    style: "unit",
    unit,
    unitDisplay: step === 0 ? "long" : "short",
    maximumFractionDigits: 1,
  });
  // Number and unit stay in one line, as in the sizes that the server writes.
  return format.format(bytes / 1024 ** step).replaceAll(" ", "\u00a0");
}

/** @param template a message of the server with each name in braces. */
export function fillIn(template: string | undefined, values: Readonly<Record<string, string>>): string {
  return (template ?? "").replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
}
