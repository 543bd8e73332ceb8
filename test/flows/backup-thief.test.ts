import { readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { makeBackupFixture } from "../support/backups.ts";
import { Canaries } from "../support/canaries.ts";
import { databaseFile } from "../support/database-file.ts";
import { countEveryone, signedIn, stranger } from "../support/domain.ts";
import { claimFiles, makeFile, pushFiles } from "../support/files.ts";
import { filesIn, NeedleFinder } from "../support/raw-files.ts";

test("a stolen backup without the master key reveals no secret, link, name or token", async () => {
  const fixture = makeBackupFixture();
  const canaries = new Canaries();
  await using source = await fixture.open();
  const { pushes } = source.domain;
  const secret = (name: string) => canaries.make(name);
  const owner = signedIn(7);
  const made = [
    await pushes.create({ payload: secret("payload") }, stranger),
    await pushes.create({ payload: secret("guarded payload"), passphrase: secret("passphrase") }, stranger),
    await pushes.create({ payload: secret("owned"), name: secret("name"), note: secret("note") }, owner),
    await pushFiles(pushes, owner, [makeFile(secret("file name"), secret("file").repeat(10_000))]),
  ];
  for (const [at, { urlToken }] of made.entries()) canaries.add(`url_token ${at}`, urlToken);
  const [file] = await claimFiles(pushes, made[3]?.urlToken ?? "", owner);
  canaries.add("ticket", file?.ticket ?? "");
  const password = "correct horse battery staple";
  canaries.add("password", password);
  const user = ["--email", "ada@example.com"];
  await fixture.run(["user", "create", ...user, "--password-stdin"], { stdin: Buffer.from(password) });
  canaries.add("API token", (await fixture.run(["token", "create", ...user, "--name", "t"])).trim());
  canaries.add("master key", "5ea1".repeat(16));

  await fixture.run(["backup", "--to", join(fixture.backupDir, "b")]);
  await fixture.run(["backup", "--to", join(fixture.backupDir, "b.tar")]);
  const files = filesIn(fixture.backupDir);
  expect(files.size).toBeGreaterThanOrEqual(5);
  for (const [path, bytes] of files) expect(canaries.findingsIn(bytes), path).toEqual([]);
  expect([...files.keys()].filter((path) => /key|boot|env/.test(path))).toEqual([]);
});

test("a backup contains the sealed keys of live pushes, and none of pushes that had ended", async () => {
  const fixture = makeBackupFixture();
  const source = await fixture.open();
  const { pushes } = source.domain;
  const living: string[] = [];
  const ended: string[] = [];
  for (let round = 0; round < 300; round += 1) {
    const { urlToken } = await pushes.create({ payload: "x".repeat(round + 1), expireAfterViews: 1 }, stranger);
    (round % 3 === 0 ? living : ended).push(urlToken);
  }
  const finder = new NeedleFinder<string>();
  const reader = new Database(databaseFile(fixture.cli.dataDir), { readonly: true });
  const sealed = reader.prepare<[number], Buffer>(
    "SELECT sealed FROM row_secrets JOIN pushes ON row_secret_id = row_secrets.id WHERE pushes.id = ?",
  );
  for (const urlToken of [...living, ...ended]) {
    const key = sealed.pluck().get(source.domain.vault.urlTokens.addressOf(urlToken).pushId);
    // Without version and key id, which are the same for all keys.
    finder.add(urlToken, Buffer.from(key ?? []).subarray(5));
  }
  reader.close();
  for (const urlToken of ended) await pushes.claimView(urlToken, countEveryone, stranger);
  await fixture.run(["backup", "--to", join(fixture.backupDir, "b.tar")]);
  expect([...finder.search(readFileSync(join(fixture.backupDir, "b.tar")))].sort()).toEqual([...living].sort());

  // The keys of pushes that end by the restore, or on the restored server, are destroyed too.
  const restore = ["restore", "--from", join(fixture.backupDir, "b.tar")];
  const allEnded = join(fixture.backupDir, "ended");
  await fixture.run([...restore, "--end-all"], { dataDir: allEnded });
  const kept = join(fixture.backupDir, "kept");
  await fixture.run([...restore, "--keep-open"], { dataDir: kept });
  const { domain, [Symbol.asyncDispose]: close } = await fixture.open(kept);
  for (const urlToken of living) await domain.pushes.claimView(urlToken, countEveryone, stranger);
  await close();
  for (const dataDir of [allEnded, kept]) {
    for (const [path, bytes] of filesIn(dataDir)) expect(finder.search(bytes).size, path).toBe(0);
  }
});
