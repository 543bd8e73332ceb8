/** Fields of a push by name; a list has several values. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;
/** Contents by file name. */
export type Files = Readonly<Record<string, string>>;

/** The multipart form of a push, as a browser sends it. */
export function pushForm(fields: Fields, files: Files = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string") form.append(`push[${name}]`, value);
    else for (const one of value) form.append(`push[${name}][]`, one);
  }
  for (const [name, content] of Object.entries(files)) form.append("push[files][]", new Blob([content]), name);
  return form;
}
/** @returns the session cookie as a browser sends it. @throws when the sign-in is refused. */
export async function signInAt(origin: string, email: string, password: string): Promise<string> {
  const answer = await fetch(`${origin}/users/sign_in`, {
    method: "POST",
    body: new URLSearchParams({ email, password }),
    headers: { "sec-fetch-site": "same-origin" },
    redirect: "manual",
  });
  await answer.arrayBuffer();
  const cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  if (answer.status !== 303 || cookie === "") throw new Error(`Signing in was answered ${answer.status}.`);
  return cookie;
}
