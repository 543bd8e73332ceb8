import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Config } from "../config/config.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Argon2Queue } from "../crypto/passphrase.ts";
import type { Database } from "../database/database.ts";
import type { Limits } from "../limits/limits.ts";
import type { Outbox } from "../mail/outbox.ts";
import type { Provider } from "./sso/provider.ts";

export interface AccountsDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly argon2: Pick<Argon2Queue, "hashPassword" | "verifyPassword">;
  readonly settings: Config["accounts"];
  /** Called only for sealed values: commands that use none work without the master key. */
  readonly keyring: () => Keyring;
  readonly outbox: Outbox;
  /** See `createMail`. */
  readonly requestedOutbox: Outbox;
  readonly limits: Limits;
  readonly bootCodeFile: BootCodeFile;
  /** undefined: single sign-on is off. */
  readonly provider: Provider | undefined;
  /** The time of last use could not be stored. The request still succeeds. */
  readonly onUseNotRecorded: (of: "api_token" | "session", error: unknown) => void;
}

/** The file that shows the operator the boot code. */
export interface BootCodeFile {
  /** undefined: there is no file. */
  read(): string | undefined;
  /** Readable only by the user that runs the server. Keeps a file that another process has created. */
  make(code: string): void;
  /** Does nothing without a file. */
  remove(): void;
}
