import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { makeFolder } from "../support/folders.ts";

const root = resolve(import.meta.dirname, "../..");

/** The built program, installed without the OpenTelemetry packages. */
function installWithoutOpenTelemetry(): string {
  const folder = makeFolder();
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true });
  const packages = join(folder, "node_modules");
  mkdirSync(packages);
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name !== "@opentelemetry") symlinkSync(join(root, "node_modules", name), join(packages, name));
  }
  return folder;
}

it("a server without the OpenTelemetry packages says how to install them, and serves", async () => {
  const folder = installWithoutOpenTelemetry();
  const child = spawn(process.execPath, [join(folder, "dist/main.js"), "serve"], {
    env: {
      PATH: process.env.PATH,
      PORT: "0",
      DATA_DIR: join(folder, "data"),
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const events = new Map<string, { readonly port?: number; readonly msg?: string }>();
  for await (const line of createInterface(child.stdout)) {
    const entry = JSON.parse(line);
    events.set(entry.event, entry);
    if (entry.event === "server_started") break;
  }
  expect(events.get("setting_warning")?.msg).toMatch(/^No traces are sent: .* `npm install --no-save @opentelemetry\//);
  const answer = await fetch(`http://127.0.0.1:${events.get("server_started")?.port}/up`);
  expect(answer.status).toBe(200);
});
