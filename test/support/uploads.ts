import { type Dirent, readdirSync } from "node:fs";
import { markerName } from "../../src/blobs/file-blob-store.ts";
import type { TestDomain } from "./domain.ts";

/** Names of the blobs under the blobs folder. */
export function blobFiles(fixture: TestDomain): string[] {
  const entries = readdirSync(fixture.dataDir, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (isBlob(entry) ? [entry.name] : []));
}

const isBlob = (entry: Dirent) => entry.isFile() && entry.parentPath.includes("blobs") && entry.name !== markerName;

/** A file whose upload pauses until `resume` is called. */
export function slowFile(filename: string) {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  async function* content(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("first ");
    reached.resolve();
    await gate.promise;
    yield Buffer.from("second");
  }
  return {
    file: { filename, contentType: "text/plain", content: content() },
    reached: reached.promise,
    resume: gate.resolve,
  };
}
