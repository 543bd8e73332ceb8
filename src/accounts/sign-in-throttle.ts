import { minuteMs, secondMs } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";

export interface SignInLimits {
  readonly windowMs: number;
  /** Failed attempts of one client on one e-mail in a window. */
  readonly perPairMax: number;
  /** Failed attempts of one client, whatever the e-mail. */
  readonly perClientMax: number;
  /** Clients and pairs remembered, each; beyond it the ones that started first are forgotten. */
  readonly rememberedMax: number;
}

export const signInLimits: SignInLimits = {
  windowMs: 10 * minuteMs,
  perPairMax: 10,
  perClientMax: 50,
  rememberedMax: 20_000,
};

export interface SignInThrottle {
  /**
   * Counts the attempt before it is made, so that parallel guesses gain nothing. Every counter belongs to one client:
   * a stranger's guesses slow the stranger alone.
   * @throws AppError too_many_requests; the refused attempt is not counted.
   */
  charge(client: string, email: string, now: number): { refund(): void };
}

interface Window {
  readonly startedAt: number;
  count: number;
}

export function createSignInThrottle(limits: SignInLimits): SignInThrottle {
  const clients = new Map<string, Window>();
  const pairs = new Map<string, Window>();

  /** A window from the future means that the clock was set back: it must not lock anybody out until then. */
  function currentWindow(windows: Map<string, Window>, key: string, now: number): Window {
    const known = windows.get(key);
    if (known !== undefined && now >= known.startedAt && now < known.startedAt + limits.windowMs) return known;
    windows.delete(key);
    const [oldest] = windows.keys();
    if (windows.size >= limits.rememberedMax && oldest !== undefined) windows.delete(oldest);
    const started = { startedAt: now, count: 0 };
    windows.set(key, started);
    return started;
  }

  function refuseWhenFull(window: Window, max: number, now: number): void {
    if (window.count < max) return;
    const waitMs = window.startedAt + limits.windowMs - now;
    throw new AppError("too_many_requests", "Too many attempts to sign in. Try again later.", {
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / secondMs)),
    });
  }

  return {
    charge(client, email, now) {
      // The client's own limit comes first: it also bounds how many pairs one client can have remembered.
      const ofClient = currentWindow(clients, client, now);
      refuseWhenFull(ofClient, limits.perClientMax, now);
      const ofPair = currentWindow(pairs, `${client} ${email}`, now);
      refuseWhenFull(ofPair, limits.perPairMax, now);
      ofClient.count += 1;
      ofPair.count += 1;
      return {
        refund() {
          ofClient.count -= 1;
          ofPair.count -= 1;
        },
      };
    },
  };
}
