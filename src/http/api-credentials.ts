import type { IncomingHttpHeaders } from "node:http";
import type { Accounts, TokenHolder } from "../accounts/accounts.ts";

const tokenLengthMax = 512;
const emailLengthMax = 254;

export interface Credentials {
  readonly token: string;
  readonly email: string | undefined;
}

/** The older pair counts only whole, and then before Bearer: clients send both at once. Empty values are not given. */
export function givenCredentials(headers: IncomingHttpHeaders): Credentials | undefined {
  const email = headers["x-user-email"];
  const pairToken = headers["x-user-token"];
  if (typeof email === "string" && email !== "" && typeof pairToken === "string" && pairToken !== "") {
    return { token: pairToken, email };
  }
  const bearer = /^Bearer +(\S.*)$/i.exec(headers.authorization ?? "")?.[1];
  return bearer === undefined ? undefined : { token: bearer.trim(), email: undefined };
}

/** @param address where the request comes from, as far as trusted proxies say. */
export async function findHolder(
  { token, email }: Credentials,
  address: string,
  accounts: Pick<Accounts, "authenticateToken">,
): Promise<TokenHolder | undefined> {
  if (token.length > tokenLengthMax) return undefined;
  if (email === undefined) return accounts.authenticateToken({ token, address });
  if (email.length > emailLengthMax) return undefined;
  return accounts.authenticateToken({ token, email, address });
}
