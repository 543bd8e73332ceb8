import type { Accounts, User } from "../accounts/accounts.ts";
import { CommandRefused } from "./errors.ts";

/** @throws CommandRefused when there is none. */
export async function getUser(accounts: Accounts, email: string): Promise<User> {
  const user = await accounts.findUserByEmail(email);
  if (user === undefined) throw new CommandRefused("There is no user with this e-mail address.");
  return user;
}
