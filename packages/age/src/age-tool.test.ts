import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findLock } from "./age-header.ts";
import { type LinkKey, makeLinkKey } from "./link-key.ts";
import { openFile, openText } from "./open.ts";
import { sealFile, sealText } from "./seal.ts";

/** The path of Debian's program. */
const ageProgram = process.env.SEALPUSH_TEST_AGE || undefined;
const secret = "\ufeffgeheim 🔑\r\nzweite Zeile\n";

let key: LinkKey;
let folder: string;
beforeEach(async () => {
  key = await makeLinkKey();
  folder = mkdtempSync(join(tmpdir(), "sealpush-age-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.runIf(ageProgram)("the age tool", () => {
  const age = (args: readonly string[], input: string | Buffer) =>
    execFileSync(ageProgram ?? "", args, { input, cwd: folder });
  const keyFile = () => writeFileSync(join(folder, "key.txt"), `${key.identity}\n`);

  test("opens a sealed text and a sealed file with the identity from the link", async () => {
    keyFile();
    const sealed = await sealText(secret, key.recipient, "");
    expect(age(["-d", "-i", "key.txt"], sealed).toString()).toBe(secret);
    const file = await sealFile(new Blob([Buffer.alloc(200_000, 7)]).stream(), key.recipient);
    expect(age(["-d", "-i", "key.txt"], await read(file))).toEqual(Buffer.alloc(200_000, 7));
  });

  test("opens a text under a passphrase in two steps", async () => {
    keyFile();
    writeFileSync(join(folder, "sealed.age"), await sealText(secret, key.recipient, "correct horse"));
    ageOnTerminal(["-d", "-o", "inner.age", "sealed.age"], "correct horse");
    expect(age(["-d", "-i", "key.txt", "inner.age"], "").toString()).toBe(secret);
  });

  test("seals texts and files that open here, also under a passphrase", async () => {
    const sealed = age(["-a", "-r", key.recipient], secret).toString();
    expect(findLock(sealed)).toBe("identity");
    expect(await openText(sealed, key.identity, "")).toBe(secret);
    const file = age(["-r", key.recipient], Buffer.alloc(70_000, 9));
    expect(await read(await openFile(new Blob([file]).stream(), key.identity))).toEqual(Buffer.alloc(70_000, 9));

    writeFileSync(join(folder, "inner.age"), sealed);
    ageOnTerminal(["-p", "-a", "-o", "sealed.age", "inner.age"], "correct horse", "correct horse");
    const protectedText = readFileSync(join(folder, "sealed.age"), "utf8");
    expect(findLock(protectedText)).toBe("passphrase");
    expect(await openText(protectedText, key.identity, "correct horse")).toBe(secret);
  });

  /** age reads passphrases only from a terminal, which `script` provides. */
  function ageOnTerminal(args: readonly string[], ...typed: readonly string[]) {
    const command = `${ageProgram} ${args.join(" ")}`;
    const done = spawnSync("script", ["-qec", command, "/dev/null"], {
      cwd: folder,
      input: typed.map((line) => `${line}\n`).join(""),
    });
    expect(done.status, done.stdout.toString()).toBe(0);
  }
});

async function read(stream: ReadableStream<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  return Buffer.from(await new Response(stream).arrayBuffer());
}
