import { errorCode } from "../../base/errors.ts";
import { reasonOfCode } from "../../base/system-error.ts";
import type { PostgresSettings } from "../../config/config.ts";
import { NewerSchemaError } from "../database.ts";
import { sqlState } from "./errors.ts";
import { ConnectionPool } from "./pool.ts";

type ServerAddress = Pick<PostgresSettings, "host" | "port" | "user" | "database" | "tls" | "setting">;

/** Nothing listens at the address, or its name does not resolve yet, for example while a container is not started. */
const unavailableCodes: readonly string[] =
  "ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT EHOSTUNREACH EHOSTDOWN ENETUNREACH ENOTFOUND EAI_AGAIN ENOENT".split(
    " ",
  );
/** The server is starting or stopping, or has no connection left. Source: PostgreSQL's manual, appendix A. */
const unavailableStates: readonly string[] = ["57P01", "57P02", "57P03", "53300"];
/** Errors of certificates and TLS handshakes. */
const tlsCodes = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_CA)/;

/** Whether waiting may help: the server is not available yet. A server that refuses the connection does not count. */
export function isNotAvailableYet(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== "") return unavailableStates.includes(state);
  const code = errorCode(error);
  return code === undefined ? isTimeout(error) : unavailableCodes.includes(code) && !hasPath(error);
}

/**
 * @returns an Error with a sentence that says what the operator should do, or the given error if there is none. It never
 * contains the password, because no error of the server or the driver does.
 */
export function describeStartFailure(error: unknown, address: ServerAddress): unknown {
  if (error instanceof NewerSchemaError || hasPath(error)) return error;
  const sentence = sentenceOf(error, address);
  return sentence === undefined ? error : new Error(sentence, { cause: error });
}

function sentenceOf(error: unknown, address: ServerAddress): string | undefined {
  const server = `The PostgreSQL server at ${addressOf(address)}`;
  const state = sqlState(error);
  const code = errorCode(error);
  if (state !== "") return `${server} ${refusalOf(state, messageOf(error), address)}`;
  if (code !== undefined && tlsCodes.test(code)) {
    const how = `sslmode and sslrootcert in ${address.setting} set what is accepted`;
    return `The certificate of the PostgreSQL server at ${addressOf(address)} is not accepted (${reasonOfCode(code)}): ${how}.`;
  }
  if (/does not support SSL/.test(messageOf(error))) {
    return `${server} offers no TLS, and sslmode=${address.tls.mode} in ${address.setting} asks for it.`;
  }
  if (isNotAvailableYet(error)) {
    const reason = code === undefined ? "no answer in time" : (reasonOfCode(code) ?? code);
    return `${server} does not answer (${reason}): check ${address.setting}.`;
  }
  return undefined;
}

/** The server's answer, and what to do about it. */
function refusalOf(state: string, message: string, { user, database, tls, setting }: ServerAddress): string {
  const refused = `refuses the user ${user}`;
  switch (state) {
    case "28P01":
      return `${refused} (${state}): check the user and the password in ${setting}.`;
    case "28000":
      if (tls.mode === "disable" && /no encryption|SSL off/i.test(message))
        return `takes no connection without TLS (${state}): add ?sslmode=verify-full, or another sslmode, to ${setting}.`;
      return /role .* does not exist/.test(message)
        ? `has no user ${user} (${state}): create it, or check ${setting}.`
        : `${refused} (${state}): its pg_hba.conf does not allow this connection.`;
    case "3D000":
      return `has no database ${database} (${state}): create it, or check ${setting}.`;
    case "42501":
      return `does not let the user ${user} make tables in the database ${database} (${state}): make it the owner, or grant it CREATE on the schema.`;
    case "25006":
      return `takes no writes (${state}): it is a standby, or set to read only. ${setting} must lead to the primary.`;
    case "08P01":
      return /unsupported startup parameter/.test(message)
        ? `is a pooler that takes no settings of a session (${state}): set PWP__DATABASE__POOLER=transaction.`
        : `refuses the connection (${state}): ${message}.`;
    default:
      return unavailableStates.includes(state)
        ? `takes no connections now (${state}): ${message}.`
        : `cannot be used (${state}): ${message}.`;
  }
}

function addressOf({ host, port }: ServerAddress): string {
  if (host.startsWith("/")) return host;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\s+/g, " ").trim().replace(/\.$/, "") : "";
}

/** An error of opening a file, for example of certificate authorities. The caller prints its path. */
function hasPath(error: unknown): boolean {
  return error instanceof Error && "path" in error && "syscall" in error && error.syscall === "open";
}

/** The driver's messages for a connection that was not opened in time, or was closed while opening. */
function isTimeout(error: unknown): boolean {
  return /timeout|terminated/i.test(messageOf(error));
}

const waitMsMax = 30_000;
const retryMs = 500;
const triesMax = waitMsMax / retryMs;

/**
 * Waits for a server that starts at the same time as this process, for example from the same compose file. All other
 * problems, and those that remain after half a minute, are reported when the database is opened.
 */
export async function awaitServer(settings: PostgresSettings, effects: AwaitEffects): Promise<void> {
  const { monotonicMs, pause, onWaiting, abandoned } = effects;
  const startedAt = monotonicMs();
  for (let tries = 1; ; tries += 1) {
    const failure = await probe(settings);
    if (!isNotAvailableYet(failure) || tries > triesMax || monotonicMs() - startedAt >= waitMsMax) return;
    const reason = describeStartFailure(failure, settings);
    if (tries === 1) onWaiting(reason instanceof Error ? reason.message : String(reason));
    await pause(retryMs);
    abandoned?.throwIfAborted();
  }
}

/** @returns the thrown error; undefined: the connection was opened. */
async function probe(settings: PostgresSettings): Promise<unknown> {
  const pool = new ConnectionPool({ ...settings, poolMax: 1 }, () => undefined);
  try {
    (await pool.connect()).release();
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await pool.close();
  }
}

export interface AwaitEffects {
  readonly monotonicMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
  /** Called once, after the first failed attempt. @param sentence the reason, for the operator. */
  readonly onWaiting: (sentence: string) => void;
  readonly abandoned: AbortSignal | undefined;
}
