/** @returns the cookie of a session, as a browser sends it. @throws when it is refused. */
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
