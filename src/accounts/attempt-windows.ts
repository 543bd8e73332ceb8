import { secondMs } from "../base/clock.ts";

export interface WindowLimits {
  readonly windowMs: number;
  /** Attempts of one key in a window. */
  readonly max: number;
  /** Keys remembered; beyond it the ones that started first are forgotten. */
  readonly rememberedMax: number;
}

export interface AttemptWindows {
  /** Whole seconds until the key may try again; 0: now. Charges nothing. */
  waitSeconds(key: string, now: number): number;
  /** @returns what takes the charge back, to be called once at most. */
  charge(key: string, now: number): () => void;
}

interface Window {
  readonly startedAt: number;
  count: number;
}

/** Counts attempts by key, in windows that begin with a key's first attempt after the window before. */
export function createAttemptWindows(limits: WindowLimits): AttemptWindows {
  const windows = new Map<string, Window>();

  /** A window from the future means that the clock was set back: it must not lock anybody out until then. */
  function currentWindow(key: string, now: number): Window | undefined {
    const known = windows.get(key);
    const holds = known !== undefined && now >= known.startedAt && now < known.startedAt + limits.windowMs;
    return holds ? known : undefined;
  }

  function startWindow(key: string, now: number): Window {
    windows.delete(key);
    const [oldest] = windows.keys();
    if (windows.size >= limits.rememberedMax && oldest !== undefined) windows.delete(oldest);
    const started = { startedAt: now, count: 0 };
    windows.set(key, started);
    return started;
  }

  return {
    waitSeconds(key, now) {
      const window = currentWindow(key, now);
      if (window === undefined || window.count < limits.max) return 0;
      return Math.max(1, Math.ceil((window.startedAt + limits.windowMs - now) / secondMs));
    },
    charge(key, now) {
      const window = currentWindow(key, now) ?? startWindow(key, now);
      window.count += 1;
      return () => {
        window.count -= 1;
      };
    },
  };
}
