import type { Actor, CreatePush, Download, IncomingFile, Push, Pushes, RevealedFile } from "../../src/pushes/pushes.ts";
import { countEveryone } from "./domain.ts";

async function* contentOf(...chunks: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}

export function makeFile(filename: string, ...chunks: readonly (string | Uint8Array)[]): IncomingFile {
  return { filename, contentType: "text/plain", content: contentOf(...chunks) };
}

/** A file push of these files by this actor. */
export async function pushFiles(
  pushes: Pushes,
  actor: Actor,
  files: readonly IncomingFile[],
  more: Pick<CreatePush, "payload" | "fields" | "passphrase" | "expireAfterViews"> = {},
): Promise<Push> {
  const upload = await pushes.beginUpload(actor);
  for (const file of files) await upload.addFile(file);
  return await pushes.create({ upload, ...more }, actor);
}

/** Retrieves the push and returns its files. @throws when it is not revealed. */
export async function claimFiles(pushes: Pushes, urlToken: string, actor: Actor): Promise<readonly RevealedFile[]> {
  const claim = await pushes.claimView(urlToken, countEveryone, actor);
  if (claim.outcome !== "revealed") throw new Error(`The push was not revealed: ${claim.outcome}.`);
  return claim.files;
}

export async function readDownload(download: Download, range?: { start: number; end: number }): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of download.read(range ?? { start: 0, end: download.sizeBytes - 1 })) parts.push(part);
  return Buffer.concat(parts);
}
