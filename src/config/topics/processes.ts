import { secondMs } from "../../base/clock.ts";
import { setting } from "../setting.ts";
import { wholeUnits } from "../value-types.ts";

export const processSettings = {
  title: "Stopping",
  intro: "",
  settings: {
    shutdownGraceMs: setting({
      env: "PWP__SHUTDOWN_GRACE_SECONDS",
      doc: "After the signal to stop, how long the server still accepts connections while `/ready` already answers 503: the time a load balancer needs to notice.",
      type: wholeUnits(secondMs, 0, 300),
      default: "0",
    }),
    shutdownIdleMs: setting({
      env: "PWP__SHUTDOWN_IDLE_SECONDS",
      doc: "How long a server that is stopping keeps an idle connection open: a last request may be on its way, for example from a proxy that keeps connections alive.",
      type: wholeUnits(secondMs, 1, 20),
      default: "1",
    }),
  },
};
