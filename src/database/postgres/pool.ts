import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresSettings } from "../../config/config.ts";
import type { PostgresHost } from "../../config/database-url.ts";
import type { PoolUse } from "../database.ts";
import { LostConnectionError, sqlState } from "./errors.ts";
import { openClient, type PooledClient } from "./pooled-client.ts";
import { findUnanswered } from "./silent-connections.ts";

interface Waiter {
  readonly resolve: (client: PooledClient) => void;
  readonly reject: (error: unknown) => void;
}

const tickMs = 1_000;
const idleMsMax = 10_000;
/** Connections are replaced, so that they are spread over the servers again after a failover or when one is added. */
const lifetimeMsMax = 1_800_000;
/** A connection that is silent at so many ticks is checked: after two to three seconds. */
const silentTicksMax = 3;
/** The answer may still be in transit when the server reports that it executes nothing. */
const answerOnItsWayMs = 1_000;
const pauseMsMin = 50;
/** The maximum pause between attempts to open a connection, without and with other connections. */
const pauseMsMax = { withNone: 500, withSome: 10_000 };

/**
 * The connections of this process. A request takes the first one that becomes free: one that another request has returned, or
 * a new one. So a connection that the server refuses delays requests while others work, and fails none.
 *
 * Connections are opened one after the other: it takes both sides longer than most statements, so most requests of a burst get one that
 * others return. Beside one that takes up to a second or longer, which may be lost in the network, each second begins another.
 *
 * The server may grant fewer connections than `poolMax`. After a refusal the pool works with those that it has and asks for
 * another one after a pause, which grows with each refusal and ends when a connection is closed.
 *
 * A network that drops packets causes no error. When an answer takes long, another connection asks the server whether it still
 * executes the statement. If it does not, or if it cannot be reached, the silent connection is closed.
 */
export class ConnectionPool {
  readonly #settings: PostgresSettings;
  readonly #hosts: readonly [PostgresHost, ...PostgresHost[]];
  readonly #onFailure: (code: string) => void;
  readonly #open = new Set<PooledClient>();
  /** In the order of last use. */
  readonly #idle: PooledClient[] = [];
  readonly #waiting = new Set<Waiter>();
  readonly #ticking: NodeJS.Timeout;
  readonly #closed = Promise.withResolvers<void>();
  #opening = 0;
  /** Refused connections since one was last opened or closed. */
  #refusals = 0;
  #lastRefusal: unknown;
  #pausing: NodeJS.Timeout | undefined;
  #isChecking = false;
  #isClosing = false;
  #hostAt = 0;

  /** @param onFailure a connection broke while it was idle, or could not be opened while requests wait for others. */
  constructor(settings: PostgresSettings, onFailure: (code: string) => void) {
    this.#settings = settings;
    this.#hosts = [{ host: settings.host, port: settings.port }, ...settings.otherHosts];
    this.#onFailure = onFailure;
    this.#ticking = setInterval(() => this.#tick(), tickMs);
    this.#ticking.unref();
  }

  use(): PoolUse {
    const { poolMax: max } = this.#settings;
    const open = this.#open.size;
    const openedSoon = this.#refusals === 0 ? max - open : this.#opening;
    return { max, open, idle: this.#idle.length, waiting: Math.max(0, this.#waiting.size - openedSoon) };
  }

  /** The caller releases it. @throws the driver's error when no connection is available in time. */
  async connect(): Promise<PooledClient> {
    if (this.#isClosing) throw new Error("The pool is closed.");
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle.lease();
    const { promise, resolve, reject } = Promise.withResolvers<PooledClient>();
    const waiter = { resolve, reject };
    const timeout = setTimeout(() => {
      this.#waiting.delete(waiter);
      const reason = new Error("No connection was available in time.");
      reject(this.#refusals > 0 ? this.#lastRefusal : Object.assign(reason, { code: "ETIMEDOUT" }));
    }, this.#settings.connectTimeoutMs);
    this.#waiting.add(waiter);
    this.#openMore();
    try {
      return await promise;
    } finally {
      clearTimeout(timeout);
    }
  }

  /** Resolves when all connections are returned. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#ticking);
    clearTimeout(this.#pausing);
    this.#rejectWaiters(new Error("The pool is closed."));
    for (const client of [...this.#idle]) this.#remove(client, false);
    this.#resolveWhenClosed();
    await this.#closed.promise;
  }

  #openMore(): void {
    if (this.#opening === 0) this.#openAnother();
  }

  #openAnother(): void {
    if (this.#isClosing || this.#pausing !== undefined) return;
    const isFull = this.#open.size + this.#opening >= this.#settings.poolMax;
    if (this.#waiting.size > 0 && !isFull) void this.#openOne();
  }

  async #openOne(): Promise<void> {
    this.#opening += 1;
    try {
      const client = await this.#openOnAnyHost();
      this.#opening -= 1;
      this.#refusals = 0;
      this.#open.add(client);
      client.on("error", (error) => this.#onBroken(client, error));
      if (this.#isClosing) this.#remove(client, false);
      else this.#offer(client);
    } catch (error) {
      this.#opening -= 1;
      this.#onRefused(error);
    }
    this.#openMore();
    this.#resolveWhenClosed();
  }

  /** Begins with the host that worked last. @throws the error of the last host. */
  async #openOnAnyHost(): Promise<PooledClient> {
    for (let tries = 1; ; tries += 1) {
      const at = this.#hostAt;
      try {
        return await openClient(this.#settings, this.#hosts[at] ?? this.#hosts[0], this.#onReleased);
      } catch (error) {
        if (at === this.#hostAt) this.#hostAt = (at + 1) % this.#hosts.length;
        if (tries >= this.#hosts.length) throw error;
      }
    }
  }

  readonly #onReleased = (client: PooledClient, broken: boolean): void => {
    if (broken || this.#isClosing || this.#isOld(client)) this.#remove(client, broken);
    else this.#offer(client);
  };

  #onRefused(error: unknown): void {
    if (this.#isClosing) return;
    this.#lastRefusal = error;
    // While there are connections, here or in other processes, requests wait for one.
    const isHopeless = this.#open.size === 0 && this.#opening === 0 && sqlState(error) !== "53300";
    if (isHopeless) this.#rejectWaiters(error);
    else this.#onFailure(new LostConnectionError(error).code);
    if (this.#pausing !== undefined) return;
    const msMax = this.#open.size === 0 ? pauseMsMax.withNone : pauseMsMax.withSome;
    const pauseMs = Math.min(msMax, pauseMsMin * 2 ** this.#refusals) * (0.5 + Math.random() / 2);
    this.#refusals += 1;
    this.#pausing = setTimeout(() => this.#endPause(), pauseMs);
    this.#pausing.unref();
  }

  #endPause(): void {
    clearTimeout(this.#pausing);
    this.#pausing = undefined;
    this.#openMore();
  }

  #offer(client: PooledClient): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#idle.push(client);
      return;
    }
    this.#waiting.delete(first);
    first.resolve(client.lease());
  }

  #rejectWaiters(error: unknown): void {
    for (const waiter of this.#waiting) waiter.reject(error);
    this.#waiting.clear();
  }

  /** A leased connection fails its statement, and is then released. */
  #onBroken(client: PooledClient, error: unknown): void {
    if (client.isLeased || !this.#open.has(client)) return;
    this.#onFailure(new LostConnectionError(error).code);
    this.#remove(client, true);
  }

  #remove(client: PooledClient, broken: boolean): void {
    const at = this.#idle.indexOf(client);
    if (at >= 0) this.#idle.splice(at, 1);
    if (this.#open.delete(client)) {
      if (broken) client.breakOff();
      else void client.end();
    }
    // The server may grant another one in its place.
    this.#refusals = 0;
    this.#endPause();
    this.#resolveWhenClosed();
  }

  #resolveWhenClosed(): void {
    if (this.#isClosing && this.#open.size === 0 && this.#opening === 0) this.#closed.resolve();
  }

  #tick(): void {
    for (const client of [...this.#idle]) {
      // The last one stays: where connections are scarce, another process may take its place.
      if (this.#isOld(client) || (client.idleMs > idleMsMax && this.#open.size > 1)) this.#remove(client, false);
    }
    this.#openAnother();
    const silent = [...this.#open].filter((client) => client.countSilentTick() >= silentTicksMax);
    if (silent.length > 0 && !this.#isChecking) void this.#check(silent);
  }

  #isOld(client: PooledClient): boolean {
    return client.ageMs > lifetimeMsMax && this.#refusals === 0;
  }

  async #check(silent: readonly PooledClient[]): Promise<void> {
    this.#isChecking = true;
    try {
      const unanswered = await findUnanswered(silent, (address) =>
        openClient(this.#settings, address, () => undefined),
      );
      await sleep(answerOnItsWayMs, undefined, { ref: false });
      const lost = unanswered.filter(({ isStillSilent }) => isStillSilent());
      for (const { client } of lost) client.breakOff();
      // They take the same path through the network.
      if (lost.length > 0) for (const client of [...this.#idle]) this.#remove(client, true);
    } finally {
      this.#isChecking = false;
    }
  }
}
