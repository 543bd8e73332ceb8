import type { PostgresSettings } from "../../config/config.ts";
import { NewerSchemaError } from "../database.ts";
import type { AwaitEffects } from "../open-database.ts";
import { sqlState } from "./errors.ts";
import { openPool } from "./pool.ts";

type Place = Pick<PostgresSettings, "host" | "port" | "user" | "database" | "tls">;

/** Nobody listens there, or the name is not known yet, as with a container that has not been started. */
const absentCodes: readonly string[] = [
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH"],
  ...["ENOTFOUND", "EAI_AGAIN", "ENOENT"],
];
/** It is starting, stopping, or has no place left just now. Source: PostgreSQL's manual, appendix A. */
const absentStates: readonly string[] = ["57P01", "57P02", "57P03", "53300"];
/** Of a certificate, or of a handshake that failed. */
const tlsCodes = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_CA)/;

/** Whether waiting may help: a server that is not there yet, not one that refuses us. */
export function isNotThereYet(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== "") return absentStates.includes(state);
  const code = codeOf(error);
  return code === undefined ? isSilence(error) : absentCodes.includes(code) && !hasPath(error);
}

/**
 * One sentence that an operator can act on, for whatever stops the start. It never holds the password, for no error of
 * the server's or the driver's does.
 */
export function describeStartFailure(error: unknown, place: Place): unknown {
  if (error instanceof NewerSchemaError || hasPath(error)) return error;
  const sentence = sentenceOf(error, place);
  return sentence === undefined ? error : new Error(sentence, { cause: error });
}

function sentenceOf(error: unknown, place: Place): string | undefined {
  const server = `The PostgreSQL server at ${addressOf(place)}`;
  const state = sqlState(error);
  const code = codeOf(error);
  if (state !== "") return `${server} ${refusalOf(state, messageOf(error), place)}`;
  if (code !== undefined && tlsCodes.test(code)) {
    const how = "sslmode and sslrootcert in DATABASE_URL say what is asked of it";
    return `The certificate of the PostgreSQL server at ${addressOf(place)} is not accepted (${code}): ${how}.`;
  }
  if (/does not support SSL/.test(messageOf(error))) {
    return `${server} offers no TLS, and sslmode=${place.tls.mode} in DATABASE_URL asks for it.`;
  }
  if (isNotThereYet(error)) return `${server} does not answer (${code ?? "no answer in time"}): check DATABASE_URL.`;
  return undefined;
}

/** What it says of itself, and what to do about it. */
function refusalOf(state: string, message: string, { user, database, tls }: Place): string {
  const refused = `refuses the user ${user}`;
  switch (state) {
    case "28P01":
      return `${refused} (${state}): check the user and the password in DATABASE_URL.`;
    case "28000":
      return tls.mode === "disable" && /no encryption|SSL off/i.test(message)
        ? `takes no connection without TLS (${state}): add ?sslmode=verify-full, or another sslmode, to DATABASE_URL.`
        : `${refused} (${state}): its pg_hba.conf does not allow this connection.`;
    case "3D000":
      return `has no database ${database} (${state}): create it, or check DATABASE_URL.`;
    case "42501":
      return `does not let the user ${user} make tables in the database ${database} (${state}): make it the owner, or grant it CREATE on the schema.`;
    case "25006":
      return `takes no writes (${state}): it is a standby, or set to read only. DATABASE_URL must lead to the primary.`;
    case "08P01":
      return /unsupported startup parameter/.test(message)
        ? `is a pooler that takes no settings of a session (${state}): set PWP__DATABASE__POOLER=transaction.`
        : `refuses the connection (${state}): ${message}.`;
    default:
      return absentStates.includes(state)
        ? `takes no connections now (${state}): ${message}.`
        : `cannot be used (${state}): ${message}.`;
  }
}

function addressOf({ host, port }: Place): string {
  if (host.startsWith("/")) return host;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\s+/g, " ").trim().replace(/\.$/, "") : "";
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Of a file of ours, such as that of the authorities: whoever prints it names the file. */
function hasPath(error: unknown): boolean {
  return error instanceof Error && "path" in error && "syscall" in error && error.syscall === "open";
}

/** The driver's own words for a connection that was not made in time, or that ended before it was. */
function isSilence(error: unknown): boolean {
  return /timeout|terminated/i.test(messageOf(error));
}

const waitMsMax = 30_000;
const retryMs = 500;
const triesMax = waitMsMax / retryMs;

/**
 * Waits for a server that starts at the same time as this process, as in one compose file. Whatever else is the matter,
 * and whatever still is after half a minute, the opening of the database meets and tells.
 */
export async function awaitServer(settings: PostgresSettings, effects: AwaitEffects): Promise<void> {
  const { monotonicMs, pause, onWaiting, abandoned } = effects;
  const startedAt = monotonicMs();
  for (let tries = 1; ; tries += 1) {
    const failure = await probe(settings);
    if (!isNotThereYet(failure) || tries > triesMax || monotonicMs() - startedAt >= waitMsMax) return;
    const told = describeStartFailure(failure, settings);
    if (tries === 1) onWaiting(told instanceof Error ? told.message : String(told));
    await pause(retryMs);
    abandoned?.throwIfAborted();
  }
}

/** @returns what was thrown; undefined: a connection was made. */
async function probe(settings: PostgresSettings): Promise<unknown> {
  const pool = openPool({ ...settings, poolMax: 1 }, () => undefined);
  try {
    (await pool.connect()).release();
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await pool.close();
  }
}
