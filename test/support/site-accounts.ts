/** The site's user who is not an administrator. */
export const email = "ada@example.com";
export const administratorEmail = "root@example.com";
/** The password of both accounts. */
export const password = "a long enough password";

/** Makes both accounts and an API token of the user. @param run a command of the program; its standard output. @returns the token. */
export async function makeSiteAccounts(
  run: (argv: readonly string[], stdin: string) => Promise<string>,
): Promise<string> {
  await run(["user", "create", "--email", email, "--password-stdin"], password);
  await run(["user", "create", "--admin", "--email", administratorEmail, "--password-stdin"], password);
  return (await run(["token", "create", "--email", email, "--name", "test"], "")).trim();
}
