import { makeFileKey } from "@sealpush/age/link-key";
import { openText } from "@sealpush/age/open";
import { sealFile } from "@sealpush/age/seal";
import { type OpenedContent, readContent, type SealedFileDetails } from "@sealpush/age/sealed-content";

/** Opens what an answer to this request has as its payload. */
export async function openAnswer(sealed: string, identity: string, urlToken: string): Promise<OpenedContent> {
  return readContent(await openText(sealed, identity, ""), urlToken);
}

interface FileToSeal {
  readonly name: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** Seals files as browsers and the client do. */
export async function sealFiles(files: readonly FileToSeal[]) {
  return await Promise.all(
    files.map(async ({ name, content }, at) => {
      const { identity, recipient } = await makeFileKey();
      const sealed = await new Response(await sealFile(new Blob([content]).stream(), recipient)).arrayBuffer();
      const stored = `${at + 1}.age`;
      const details: SealedFileDetails = { stored, name, type: "", size: content.length, identity };
      return { details, sealed: Buffer.from(sealed) };
    }),
  );
}
