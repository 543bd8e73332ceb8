/** Fields of a push by name; those with several values make a list. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;
/** Contents by file name. */
export type Files = Readonly<Record<string, string>>;

/** The form for a push in parts, as a browser sends it. */
export function pushForm(fields: Fields, files: Files = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string") form.append(`push[${name}]`, value);
    else for (const one of value) form.append(`push[${name}][]`, one);
  }
  for (const [name, content] of Object.entries(files)) form.append("push[files][]", new Blob([content]), name);
  return form;
}
