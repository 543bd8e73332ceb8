import { tmpdir } from "node:os";
import { join } from "node:path";
import { allScopes, type Session, type User } from "../../src/accounts/accounts.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createServer, type Server } from "../../src/http/server.ts";
import { createEvents } from "../../src/telemetry/events.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { TestClock, testConfig } from "./domain.ts";

/** The server writes nothing itself. */
const unusedDataDir = join(tmpdir(), "sealpush-unused");

export const owner: User = {
  id: 7,
  email: "owner@example.com",
  admin: false,
  createdAt: 0,
  confirmedAt: 0,
  disabledAt: null,
  language: null,
  hasPassword: true,
  hasSecondFactor: false,
};
const session: Session = {
  id: 1,
  user: owner,
  waitsForFactor: false,
  createdAt: 0,
  provedAt: 0,
  cookieSeconds: undefined,
  formToken: "form-token",
};
const waiting: Session = { ...session, id: 2, waitsForFactor: true, formToken: "waiting-form-token" };
export const goodToken = "sp_good";
export const goodSession = "session-token";
export const waitingSession = "waiting-session-token";

export interface BareServer extends Server {
  readonly clock: TestClock;
  readonly logLines: readonly string[];
  readonly forwarders: readonly string[];
  /** What the server does at intervals happens once. */
  runJobs(): void;
}

/** The server without the product behind it: one known user, who has one token and one session. */
export function startBareServer(environment: Readonly<Record<string, string>> = {}): BareServer {
  const clock = new TestClock();
  const logLines: string[] = [];
  const forwarders: string[] = [];
  const everyRuns: (() => void)[] = [];
  const logger = createLogger("debug", { write: (line: string) => logLines.push(line) });
  const server = createServer({
    config: testConfig(unusedDataDir, environment),
    clock,
    random: systemRandom,
    events: createEvents({ logger, clock }),
    accounts: {
      authenticateToken: async ({ token }) => (token === goodToken ? { user: owner, scopes: allScopes } : undefined),
      authenticateSession: async (token) => ({ [goodSession]: session, [waitingSession]: waiting })[token],
      entryFormToken: (cookie) => `form-token-of-${cookie}`,
    },
    renderError: (refusal) => `<!doctype html><title>${refusal.status}</title><p>${refusal.message}</p>`,
    findOldAddress: () => undefined,
    onUntrustedForwarder: (address) => forwarders.push(address),
    watch: {},
    monotonicMs: () => clock.now(),
    metricsGate: undefined,
    requestCounts: undefined,
    memoryBytes: 256 * 1024 * 1024,
    isMemoryShort: () => false,
    every: (_ms, run) => {
      everyRuns.push(run);
      return () => undefined;
    },
  });
  const runJobs = () => {
    for (const run of everyRuns) run();
  };
  return { ...server, clock, logLines, forwarders, runJobs };
}
