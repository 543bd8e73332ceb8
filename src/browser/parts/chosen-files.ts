const units = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

function size(bytes: number, tag: string): string {
  const step = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const unit = units[step] ?? "byte";
  const format = new Intl.NumberFormat(tag, {
    style: "unit",
    unit,
    unitDisplay: step === 0 ? "long" : "short",
    maximumFractionDigits: 1,
  });
  return format.format(bytes / 1024 ** step);
}

/** Names and sizes of the files chosen in the field that `data-chosen-files` names. */
export function listChosenFiles(): void {
  const tag = `${document.documentElement.lang}-u-nu-latn`;
  for (const list of document.querySelectorAll<HTMLElement>("[data-chosen-files]")) {
    const field = document.getElementById(list.dataset.chosenFiles ?? "");
    if (!(field instanceof HTMLInputElement)) continue;
    const update = () => {
      const rows = [...(field.files ?? [])].map((file) => {
        const row = document.createElement("li");
        const name = document.createElement("bdi");
        name.textContent = file.name;
        const bytes = document.createElement("span");
        bytes.textContent = size(file.size, tag);
        row.append(name, bytes);
        return row;
      });
      list.replaceChildren(...rows);
      list.hidden = rows.length === 0;
    };
    field.addEventListener("change", update);
    update();
  }
}
