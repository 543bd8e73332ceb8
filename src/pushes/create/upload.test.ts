import { expect, test } from "vitest";
import { openTestDomain, signedIn, stranger } from "../../../test/support/domain.ts";
import { claimFiles, makeFile, pushFiles, readDownload } from "../../../test/support/files.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { blobFiles, slowFile } from "../../../test/support/uploads.ts";
import { cleanFilename } from "./received-files.ts";

const owner = signedIn(7);

test("files are downloaded unchanged and in their order", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const files = ["a", "b", "c"].map((name) => makeFile(`${name}.txt`, name, "-", name.repeat(100_000)));
  const { urlToken } = await pushFiles(pushes, owner, files, { payload: "three files" });
  const claimed = await claimFiles(pushes, urlToken, stranger);
  expect(claimed.map((file) => [file.filename, file.sizeBytes])).toEqual([
    ["a.txt", 100_002],
    ["b.txt", 100_002],
    ["c.txt", 100_002],
  ]);
  for (const [at, { ticket }] of claimed.entries()) {
    const download = await pushes.openTicket(ticket, stranger);
    if (download === undefined) throw new Error("The ticket does not open.");
    const name = "abc".charAt(at);
    expect((await readDownload(download)).toString()).toBe(`${name}-${name.repeat(100_000)}`);
  }
});

test("one file more than allowed is refused, the accepted ones can still be pushed", async () => {
  await using fixture = await openTestDomain({ environment: { PWP__FILES__MAX_FILE_UPLOADS: "2" } });
  const { pushes } = fixture.domain;
  const upload = await pushes.beginUpload(owner);
  await upload.addFile(makeFile("a.txt", "a"));
  await upload.addFile(makeFile("b.txt", "b"));
  await expect(upload.addFile(makeFile("c.txt", "c"))).rejects.toMatchObject({
    code: "invalid_fields",
    fields: { files: ["can't be more than 2."] },
  });
  expect(upload.fileCount).toBe(2);
  await upload.abandon();
});

test("bytes beyond the limit of one push, in one file or in total, are refused while they arrive", async () => {
  await using fixture = await openTestDomain({ environment: { PWP__FILES__MAX_PUSH_BYTES: "1000" } });
  const { pushes } = fixture.domain;
  const upload = await pushes.beginUpload(owner);
  await upload.addFile(makeFile("a.txt", "a".repeat(1_000)));
  await expect(upload.addFile(makeFile("b.txt", "b"))).rejects.toMatchObject({ code: "too_large" });
  await upload.abandon();

  const endless = await pushes.beginUpload(owner);
  let asked = 0;
  async function* content(): AsyncGenerator<Uint8Array> {
    for (;;) {
      asked += 1;
      yield Buffer.alloc(100);
    }
  }
  const file = { filename: "endless", contentType: "text/plain", content: content() };
  await expect(endless.addFile(file)).rejects.toMatchObject({ code: "too_large" });
  expect(asked).toBe(11);
  await endless.abandon();
  await makeSweeper(fixture).sweep();
  expect(blobFiles(fixture)).toEqual([]);
});

test("files are added one after another; two at once are a caller's bug", async () => {
  await using fixture = await openTestDomain();
  const upload = await fixture.domain.pushes.beginUpload(owner);
  const slow = slowFile("a.txt");
  const first = upload.addFile(slow.file);
  await slow.reached;
  await expect(upload.addFile(makeFile("b.txt", "b"))).rejects.toThrow(/one file after another/);
  slow.resume();
  await first;
  await upload.addFile(makeFile("b.txt", "b"));
  expect(upload.fileCount).toBe(2);
});

test.each([
  ["plan.txt", "plan.txt"],
  ["/etc/passwd", "passwd"],
  ["..\\..\\boot.ini", "boot.ini"],
  ["a/", "file"],
  ["..", "file"],
  [".", "file"],
  ["", "file"],
  ["  spaced name .txt  ", "spaced name .txt"],
  ["line\r\nbreak\u0000.txt", "linebreak.txt"],
  ["invoice\u202Excod.exe", "invoicexcod.exe"],
  ["\u2066a\u2069.txt", "a.txt"],
  ["half \ud83d.txt", "half \ufffd.txt"],
  ["<img src=x onerror=alert(1)>.txt", "<img src=x onerror=alert(1)>.txt"],
])("the filename %j is kept as %j", (given, kept) => {
  expect(cleanFilename(given)).toBe(kept);
});

test("a filename is cut at 255 characters, never within a surrogate pair", () => {
  expect(cleanFilename("\u{1F511}".repeat(300))).toBe("\u{1F511}".repeat(255));
});

test.each([
  ["text/plain", "text/plain"],
  ["TEXT/HTML; charset=utf-8", "text/html"],
  ["application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text"],
  ["image/svg+xml", "image/svg+xml"],
  ["", "application/octet-stream"],
  ["text", "application/octet-stream"],
  ["text/plain\r\nX-Evil: 1", "application/octet-stream"],
])("the content type %j is kept as %j", async (given, kept) => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await pushFiles(pushes, owner, [{ ...makeFile("a", "a"), contentType: given }]);
  expect(await claimFiles(pushes, urlToken, stranger)).toMatchObject([{ contentType: kept }]);
});
