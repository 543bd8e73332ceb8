export interface WorkerEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** One worker as the primary sees it. */
export interface WorkerProcess {
  readonly number: number;
  readonly pid: number | undefined;
  /** false: it has ended without ever serving. */
  readonly serving: Promise<boolean>;
  readonly ended: Promise<WorkerEnd>;
  /** It drains and ends; one that still starts does so once it has. */
  stop(signal: string): void;
  /** The same for one that has a successor. */
  retire(): void;
  /** Ends it without any ceremony. */
  kill(): void;
}
