import type { Config } from "../../config/config.ts";

/** The name of the single sign-on provider; null: single sign-on is not available. */
export function providerNameOf(config: Pick<Config, "singleSignOn" | "accounts">): string | null {
  return config.accounts.loginsDisabled ? null : (config.singleSignOn?.name ?? null);
}
