import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Config } from "../config/config.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Argon2Queue } from "../crypto/passphrase.ts";
import type { Database } from "../database/database.ts";
import type { Limits } from "../limits/limits.ts";
import type { BoundedOutbox, Outbox } from "../mail/outbox.ts";
import type { Provider } from "./sso/provider.ts";

/** What the operations of this room work with. */
export interface AccountsDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly argon2: Pick<Argon2Queue, "hashPassword" | "verifyPassword">;
  readonly settings: Config["accounts"];
  /** Asked for only by what is sealed: most of an account is not, and commands work without the master key. */
  readonly keyring: () => Keyring;
  readonly outbox: Outbox;
  /** See Mail.requestedOutbox. */
  readonly requestedOutbox: BoundedOutbox;
  readonly limits: Limits;
  readonly bootCodeFile: BootCodeFile;
  /** undefined: nobody signs in elsewhere. */
  readonly provider: Provider | undefined;
  /** The time of last use could not be stored: the request goes on, the failure is told here. */
  readonly onUseNotRecorded: (of: "api_token" | "session", error: unknown) => void;
}

/** Where the boot code lies for the operator to read. */
export interface BootCodeFile {
  /** undefined: there is none. */
  read(): string | undefined;
  /** Private to the user the server runs as. One that another process made first stays. */
  make(code: string): void;
  /** Nothing happens when there is none. */
  remove(): void;
}
