import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createMetrics } from "../../src/telemetry/metrics.ts";

const folder = join(import.meta.dirname, "../../deploy/monitoring");
const read = (name: string) => readFileSync(join(folder, name), "utf8");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}
interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const rules: readonly Rule[] = parse(read("prometheus-rule.yaml")).spec.groups[0].rules;
const panels: readonly Panel[] = JSON.parse(read("grafana-dashboard.json")).panels;
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];

/** Each metric of the server with the labels that it may have; a histogram under the names of its parts. */
async function labelsByMetric(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const metrics = createMetrics({ version: "1", clock: { now: () => 0 } });
  metrics.watchDomain({
    engine: "postgres",
    backlog: async () => ({ oldestDueAt: 0, blobDeletionsDue: 0, mails: { waiting: 0, failed: 0 } }),
    argon2: { waiting: 0, running: 0 },
    writes: () => ({ commits: 0, transactions: 0, conflicts: 0, waiting: 0 }),
    pool: () => ({ max: 1, open: 1, idle: 1, waiting: 0 }),
  });
  const request = { requestId: "1", https: true, address: "192.0.2.1", caller: undefined };
  metrics.requestAnswered({ ...request, method: "GET", route: "/up", status: 200, durationMs: 1 });
  metrics.jobFailed("mail");
  metrics.jobDone("sweep", { pushes: 1 });
  const found = new Map<string, Set<string>>();
  for (const line of (await metrics.read()).text.split("\n")) {
    const [, name = "", labels = ""] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? [];
    if (name === "") continue;
    const known = found.get(name) ?? new Set();
    found.set(name, known);
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) known.add(label);
  }
  return found;
}

/** Added by Prometheus when it scrapes. */
const ofPrometheus = ["job", "instance"];

/** Metrics that an expression reads, with the labels that it selects by. */
function usesIn(expression: string) {
  return [...expression.matchAll(/\b((?:sealpush|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, metric = "", matchers = ""]) => ({
      metric,
      matched: [...matchers.matchAll(/(\w+)=~?"/g)].map(([, label = ""]) => label),
    }),
  );
}

describe("the dashboard and the alerts", () => {
  it("read only metrics and labels that the server has", async () => {
    const labels = await labelsByMetric();
    for (const expression of expressions) {
      const uses = usesIn(expression);
      expect(uses.length, expression).toBeGreaterThan(0);
      const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/, */));
      for (const { metric, matched } of uses) {
        expect([...labels.keys()], expression).toContain(metric);
        const known = [...(labels.get(metric) ?? []), ...ofPrometheus];
        for (const label of [...matched, ...grouped]) expect(known, expression).toContain(label);
      }
    }
  });

  it("know every metric of ours, apart from the time of the last sweep, which the lag shows better", async () => {
    const used = new Set(expressions.flatMap((expression) => usesIn(expression).map(({ metric }) => metric)));
    const unused = [...(await labelsByMetric()).keys()].filter(
      (name) => name.startsWith("sealpush_") && !used.has(name) && !/_(?:sum|count)$/.test(name),
    );
    expect(unused).toEqual(["sealpush_sweep_last_success_timestamp_seconds"]);
  });

  it("say what is wrong, how bad it is, and what to look at, in words", () => {
    for (const { alert, labels, annotations } of rules) {
      expect(alert).toMatch(/^Sealpush[A-Z]/);
      expect(["warning", "critical"]).toContain(labels.severity);
      expect(annotations.summary).toMatch(/\.$/);
    }
    for (const { title, targets } of panels) {
      expect(title).not.toBe("");
      for (const { legendFormat } of targets) expect(legendFormat).not.toBe("");
    }
  });

  it("name the outcomes that the server counts", async () => {
    const metrics = createMetrics({ version: "1", clock: { now: () => 0 } });
    const { text } = await metrics.read();
    for (const expression of expressions) {
      for (const [, metric = "", label = "", values = ""] of expression.matchAll(
        /(sealpush_(?:claims|mail_attempts)_total)\{(?:[^}]*,)?(outcome)=~?"([^"]*)"/g,
      )) {
        for (const value of values.split("|")) expect(text).toContain(`${metric}{${label}="${value}"}`);
      }
    }
  });
});
