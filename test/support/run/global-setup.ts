import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { openRunService } from "./run-service.ts";
import "./provided.ts";

/** What tests share is made only when a test asks for it. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "sealpush-run-"));
  const compileCache = join(folder, "compiled");
  const service = await openRunService(folder, compileCache);
  project.provide("runService", service.address);
  project.provide("compileCache", compileCache);
  return async () => {
    await service[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  };
}
