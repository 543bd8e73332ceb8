import type { Actor } from "../../src/pushes/actor.ts";
import type { IncomingFile } from "../../src/pushes/push.ts";
import { countEveryone, signedIn, stranger, type TestDomain } from "./domain.ts";
import { countRows, readRows } from "./engine-database.ts";
import { readDownload } from "./files.ts";
import { blobFiles } from "./uploads.ts";

export const owner = signedIn(7);
export const view = (fixture: TestDomain, urlToken: string, passphrase = "", actor: Actor = stranger) =>
  fixture.domain.pushes.claimView(urlToken, { ...countEveryone, passphrase }, actor);

export async function uploadOf(fixture: TestDomain, ...files: readonly IncomingFile[]) {
  const upload = await fixture.domain.pushes.beginUpload(owner);
  for (const file of files) await upload.addFile(file);
  return upload;
}

/** Names and contents of a push's files, as a recipient gets them. */
export async function contents(
  fixture: TestDomain,
  urlToken: string,
  passphrase = "",
): Promise<Record<string, string>> {
  const claim = await view(fixture, urlToken, passphrase);
  if (claim.outcome !== "revealed") throw new Error(`The push was not revealed: ${claim.outcome}.`);
  const found: Record<string, string> = {};
  for (const { filename, ticket } of claim.files) {
    const download = await fixture.domain.pushes.openTicket(ticket, stranger);
    if (download === undefined) throw new Error("A ticket does not open.");
    found[filename] = (await readDownload(download)).toString();
  }
  return found;
}

export async function idOf(fixture: TestDomain, urlToken: string, filename: string): Promise<number> {
  const editable = await fixture.domain.pushes.findEditable(urlToken, owner);
  const file = editable?.files.find((one) => one.filename === filename);
  if (file === undefined) throw new Error("There is no such file.");
  return file.id;
}

export const count = (fixture: TestDomain, table: string) => countRows(fixture.domain.db, table);
export async function storedBytes({ domain }: TestDomain): Promise<number | undefined> {
  const [row] = await readRows<{ bytes: number }>(domain.db, "SELECT stored_bytes AS bytes FROM pushes");
  return row?.bytes;
}
export const blobCount = (fixture: TestDomain) => blobFiles(fixture).length;
