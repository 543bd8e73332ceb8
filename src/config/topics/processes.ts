import { secondMs } from "../../base/clock.ts";
import { type ParsedGroup, setting } from "../setting.ts";
import { wholeNumber } from "../value-types.ts";

export const processSettings = {
  title: "Stopping",
  intro: "",
  settings: {
    shutdownGraceSeconds: setting({
      env: "PWP__SHUTDOWN_GRACE_SECONDS",
      doc: "After the signal to stop, how long the server still accepts connections while `/ready` already answers 503: the time a load balancer needs to notice.",
      type: wholeNumber(0, 300),
      default: "0",
    }),
    shutdownIdleSeconds: setting({
      env: "PWP__SHUTDOWN_IDLE_SECONDS",
      doc: "How long a server that is stopping keeps an idle connection open: a last request may be on its way, for example from a proxy that keeps connections alive.",
      type: wholeNumber(1, 20),
      default: "1",
    }),
  },
};

export function processesConfig({ shutdownGraceSeconds, shutdownIdleSeconds }: ParsedGroup<typeof processSettings>) {
  return {
    /** How long a server that is stopping still accepts connections, although it says that it is not ready. */
    shutdownGraceMs: shutdownGraceSeconds.value * secondMs,
    /** How long a server that is stopping keeps an idle connection open. */
    shutdownIdleMs: shutdownIdleSeconds.value * secondMs,
  };
}
