import { expect, test } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import type { TestApp } from "../support/app.ts";
import { signedIn } from "../support/domain.ts";
import { expected } from "../support/password-pusher/expected.ts";
import { type ImportTarget, makeImportTarget, problemsOf, withReport } from "../support/password-pusher/import-run.ts";
import { installProduction } from "../support/password-pusher/installations.ts";
import {
  addLeaver,
  changeSource,
  leaver,
  linkOf,
  newPassphrase,
  newPassword,
  newToken,
  sourceChanges,
} from "../support/password-pusher/source-changes.ts";

const { users } = expected.production;
const client = { throttleKey: "192.0.2.1", address: "192.0.2.1", userAgent: "test" };

interface Case {
  readonly name: string;
  /** The name of one of `sourceChanges`. */
  readonly there: string;
  readonly row: string;
  readonly here: (app: TestApp) => Promise<unknown>;
  readonly afterwards: (app: TestApp) => Promise<void>;
}

const retrieve = async (app: TestApp, id: number, passphrase = "") => {
  const url = `/api/v2/pushes/${linkOf(id)}?passphrase=${encodeURIComponent(passphrase)}`;
  const answer = await app.server.inject({ url });
  return { status: answer.statusCode, body: answer.json() };
};

const owner = async (app: TestApp, email: string) => {
  const user = await app.app.domain.accounts.findUserByEmail(email);
  if (user === undefined) throw new Error(`${email} was not imported.`);
  return signedIn(user.id);
};

const edit = async (app: TestApp, id: number, email: string, change: object) => {
  const outcome = await app.app.domain.pushes.edit(linkOf(id), change, await owner(app, email));
  expect(outcome).toMatchObject({ outcome: "edited" });
};

const signIn = (app: TestApp, email: string, password: string) =>
  app.app.domain.accounts.signIn({ email, password, client });

const cases: readonly Case[] = [
  {
    name: "ended there, viewed here: it has ended",
    there: "deleted by its owner",
    row: "pushes 18 kept",
    here: (app) => retrieve(app, 18),
    async afterwards(app) {
      expect((await retrieve(app, 18)).body).toMatchObject({ expired: true, payload: null });
    },
  },
  {
    name: "ended here, changed there: it stays ended",
    there: "more days",
    row: "pushes 52 kept",
    here: async (app) => await app.app.domain.pushes.expire(linkOf(52), await owner(app, "bob@example.org")),
    async afterwards(app) {
      expect((await retrieve(app, 52)).body).toMatchObject({ expired: true, payload: null });
    },
  },
  {
    name: "viewed there and here: the views of both count",
    there: "a view",
    row: "pushes 11 kept",
    async here(app) {
      await retrieve(app, 11);
      await retrieve(app, 11);
    },
    async afterwards(app) {
      // Five views: one before the first run, one there since, two here since, and this one.
      const payload = expected.production.pushes.find(({ id }) => id === 11)?.payload;
      expect((await retrieve(app, 11)).body).toMatchObject({ payload, views_remaining: 0 });
    },
  },
  {
    name: "a passphrase added there, viewed here: it is asked for",
    there: "an added passphrase",
    row: "pushes 119 kept",
    here: (app) => retrieve(app, 119),
    async afterwards(app) {
      expect((await retrieve(app, 119)).status).toBe(401);
      expect((await retrieve(app, 119, newPassphrase)).body).toMatchObject({ views_remaining: 1 });
    },
  },
  {
    name: "the passphrase removed there, viewed here: it is kept",
    there: "a removed passphrase",
    row: "pushes 118 kept",
    here: (app) => retrieve(app, 118, expected.production.pushes.find(({ id }) => id === 118)?.passphrase ?? ""),
    async afterwards(app) {
      expect((await retrieve(app, 118)).status).toBe(401);
    },
  },
  {
    name: "fewer views there, edited here: both",
    there: "fewer views",
    row: "pushes 40 kept",
    here: (app) => edit(app, 40, "bob@example.org", { payload: "https://example.com/here", expireAfterViews: 50 }),
    async afterwards(app) {
      expect((await retrieve(app, 40)).body).toMatchObject({ payload: "https://example.com/here", views_remaining: 2 });
    },
  },
  {
    name: "another name there and here: the one here",
    there: "another name",
    row: "pushes 38 kept",
    here: (app) => edit(app, 38, "alice@example.com", { name: "Renamed here" }),
    async afterwards(app) {
      const { accounts } = app.app.domain;
      const user = await accounts.findUserByEmail("alice@example.com");
      const { token } = await accounts.createToken(user?.id ?? 0, "reader");
      const list = await app.server.inject({
        url: "/api/v2/pushes/active",
        headers: { authorization: `Bearer ${token}` },
      });
      expect(list.json()).toContainEqual(expect.objectContaining({ url_token: linkOf(38), name: "Renamed here" }));
    },
  },
  {
    name: "gone there, viewed here: it has ended",
    there: "a deleted push without an owner",
    row: "pushes 36 kept",
    here: (app) => retrieve(app, 36),
    async afterwards(app) {
      expect((await retrieve(app, 36)).body).toMatchObject({ expired: true, payload: null });
    },
  },
  {
    name: "another password there, and one set here: the one here",
    there: "another password",
    row: "users 1 kept",
    async here(app) {
      const user = await app.app.domain.accounts.findUserByEmail("admin@example.com");
      expect(await signIn(app, "admin@example.com", users[0]?.password ?? "")).toBeDefined();
      expect(user).toBeDefined();
    },
    async afterwards(app) {
      expect(await signIn(app, "admin@example.com", newPassword)).toBeUndefined();
      expect(await signIn(app, "admin@example.com", users[0]?.password ?? "")).toBeDefined();
    },
  },
  {
    name: "another API token there, revoked here: none",
    there: "another API token",
    row: "users 1 kept",
    async here(app) {
      const { accounts } = app.app.domain;
      const user = await accounts.findUserByEmail("admin@example.com");
      const [token] = await accounts.listTokens(user?.id ?? 0);
      expect(await accounts.revokeToken(user?.id ?? 0, token?.id ?? 0)).toBe(true);
    },
    async afterwards(app) {
      const headers = { "x-user-token": newToken, "x-user-email": "admin@example.com" };
      expect((await app.server.inject({ url: "/p/active.json", headers })).statusCode).toBe(401);
    },
  },
];

test("of rows that were changed there and here, the stricter of both stays, and the report names them", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  // It cannot be decrypted, which would hide the exit code.
  const complete = (run: (statement: string) => Promise<void>) => run("DELETE FROM pushes WHERE id = 103");
  await changeSource(installation, complete);
  expect((await target.run(installation)).exitCode).toBe(0);
  {
    const app = await target.serve();
    for (const { here } of cases) await here(app);
  }
  await changeSource(installation, async (run, folder) => {
    for (const { there } of cases) await sourceChanges.find(({ name }) => name === there)?.change(run, folder);
  });
  const report = withReport(target);
  const run = await target.run(installation, ...report.options);
  expect(run.exitCode, run.stdout + run.stderr).toBe(4);
  expect(report.read()).toMatchObject({ outcome: "kept_stricter", differences: [] });
  expect(problemsOf(report).sort()).toEqual([...new Set(cases.map(({ row }) => row))].sort());
  const app = await target.serve();
  for (const { afterwards } of cases) await afterwards(app);
  const { stdout } = await target.verify(installation);
  expect(stdout).not.toMatch(/push \d+ \(failed\)/);
  expect(stdout).toContain("push 118 (changed): Its passphrase was removed at the source and is still needed here");
  expect((await target.run(installation, ...report.options)).exitCode).toBe(0);
});

test("a passphrase added there is reported if the content was changed here, until it is asked for here too", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
  await edit(await target.serve(), 119, "alice@example.com", { payload: "changed here" });
  await changeSource(installation, async (run, folder) => {
    await sourceChanges.find(({ name }) => name === "an added passphrase")?.change(run, folder);
  });
  const report = withReport(target);
  for (let runs = 0; runs < 2; runs += 1) {
    expect((await target.run(installation, ...report.options)).exitCode).toBe(3);
    expect(problemsOf(report)).toContain("pushes 119 partly");
  }
  expect((await retrieve(await target.serve(), 119)).body).toMatchObject({ payload: "changed here" });
});

test("a push that was given more time here stays open when its time passes there", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  await changeSource(installation, (run) => run("DELETE FROM pushes WHERE id = 103"));
  await target.run(installation);
  {
    const app = await target.serve();
    await edit(app, 38, "alice@example.com", { expireAfterDays: 60 });
    await edit(app, 119, "alice@example.com", { expireAfterDays: 60 });
    await edit(app, 118, "bob@example.org", { expireAfterDays: 60 });
    await retrieve(app, 113);
  }
  target.clock.advance(16 * dayMs);
  const report = withReport(target);
  const run = await target.run(installation, ...report.options);
  expect(run.exitCode, run.stdout + run.stderr).toBe(0);
  expect(problemsOf(report)).toEqual([]);
  const app = await target.serve();
  expect((await retrieve(app, 38)).body).toMatchObject({ expired: false, views_remaining: 4 });
  expect((await retrieve(app, 113)).body).toMatchObject({ expired: true, payload: null });
  const verified = await target.verify(installation);
  expect(verified.stdout).toContain(
    "push 38 (changed): Its time has passed at the source, and it was given more time here.",
  );
  expect(verified.exitCode, verified.stdout).toBe(0);

  // Views there still count, and what somebody has ended there has ended.
  await changeSource(installation, async (change) => {
    const add = (pushId: number, kind: number, userId: number | null) =>
      change(
        "INSERT INTO audit_logs (created_at, updated_at, ip, kind, push_id, referrer, user_agent, user_id) VALUES (?, ?, '', ?, ?, '', '', ?)",
        ...["2026-11-21 12:00:00", "2026-11-21 12:00:00", kind, pushId, userId],
      );
    for (let views = 0; views < 2; views += 1) await add(119, 1, null);
    await add(118, 3, 4);
    await change("UPDATE pushes SET expired = TRUE, expired_on = '2026-11-21 12:00:00' WHERE id = 118");
  });
  expect((await target.run(installation, ...report.options)).exitCode).toBe(4);
  expect(problemsOf(report).sort()).toEqual(["pushes 118 kept", "pushes 119 kept"]);
  expect((await retrieve(app, 119)).body).toMatchObject({ payload: "mailed to two people", views_remaining: 0 });
  expect((await retrieve(app, 118)).body).toMatchObject({ expired: true, payload: null });
});

test("a push that was given more time here stays open when the source purges it after its time, and ends when it is deleted there before", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const remove = (id: number) =>
    changeSource(installation, async (run) => {
      await run("DELETE FROM notify_by_emails WHERE audit_log_id IN (SELECT id FROM audit_logs WHERE push_id = ?)", id);
      await run("DELETE FROM audit_logs WHERE push_id = ?", id);
      await run("DELETE FROM pushes WHERE id = ?", id);
    });
  await changeSource(installation, (run) => run("DELETE FROM pushes WHERE id = 103"));
  await target.run(installation);
  {
    const app = await target.serve();
    await edit(app, 38, "alice@example.com", { expireAfterDays: 60 });
    await edit(app, 118, "bob@example.org", { expireAfterDays: 60 });
  }
  await remove(118);
  const report = withReport(target);
  expect((await target.run(installation, ...report.options)).exitCode).toBe(4);
  expect(problemsOf(report)).toEqual(["pushes 118 kept"]);
  target.clock.advance(16 * dayMs);
  await remove(38);
  for (const options of [["--dry-run"], []]) {
    const run = await target.run(installation, ...options, ...report.options);
    expect([run.exitCode, problemsOf(report)], run.stdout + run.stderr).toEqual([0, []]);
  }
  const app = await target.serve();
  expect((await retrieve(app, 38)).body).toMatchObject({ expired: false, views_remaining: 4 });
  expect((await retrieve(app, 118)).body).toMatchObject({ expired: true, payload: null });
  expect((await target.verify(installation)).exitCode).toBe(0);
});

test("a push that was over at the source before its time ends here, however late the next run is", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const [ofLeaver, anonymous] = leaver.pushes;
  await changeSource(installation, async (run) => {
    await run("DELETE FROM pushes WHERE id = 103");
    await addLeaver(run);
    await run("UPDATE pushes SET user_id = NULL, expire_after_days = 90 WHERE id = ?", anonymous);
  });
  await target.run(installation);
  const app = await target.serve();
  expect(await signIn(app, leaver.email, newPassword)).toBeDefined();
  await edit(app, ofLeaver, leaver.email, { expireAfterDays: 60 });
  await retrieve(app, anonymous);
  await changeSource(installation, async (run) => {
    await run("DELETE FROM audit_logs WHERE push_id = ?", ofLeaver);
    await run("DELETE FROM pushes WHERE id = ?", ofLeaver);
    await run("DELETE FROM users WHERE id = ?", leaver.id);
    await run(
      "UPDATE pushes SET expired = TRUE, expired_on = ?, payload_ciphertext = NULL WHERE id = ?",
      "2026-11-20 12:30:00",
      anonymous,
    );
  });
  target.clock.advance(40 * dayMs);
  const report = withReport(target);
  for (const options of [["--dry-run"], []]) {
    await target.run(installation, "--newest-deleted", ...options, ...report.options);
    expect(problemsOf(report)).toEqual(expect.arrayContaining([`pushes ${ofLeaver} kept`, `pushes ${anonymous} kept`]));
  }
  for (const id of leaver.pushes) {
    expect((await retrieve(app, id)).body).toMatchObject({ expired: true, payload: null });
  }
});

test.each<[string, (target: ImportTarget, app: TestApp) => Promise<unknown>]>([
  [
    "a token that the command made",
    ({ cli }) => cli.run(["token", "create", "--email", leaver.email, "--name", "deploy"]),
  ],
  [
    "the imported token",
    async (target, app) => {
      const headers = { "x-user-token": newToken, "x-user-email": leaver.email };
      expect((await app.server.inject({ url: "/p/active.json", headers })).statusCode).toBe(200);
      const { accounts } = app.app.domain;
      const user = await accounts.findUserByEmail(leaver.email);
      // No request waits for this write.
      await expect.poll(async () => (await accounts.listTokens(user?.id ?? 0))[0]?.lastUsedAt).toBe(target.clock.now());
    },
  ],
])("an account that was deleted there stays if it was used here, even if only through %s", async (_, use) => {
  const target = makeImportTarget();
  const installation = installProduction();
  await changeSource(installation, async (run) => {
    await addLeaver(run);
    await run("UPDATE users SET authentication_token = ? WHERE id = ?", newToken, leaver.id);
  });
  await target.run(installation);
  const app = await target.serve();
  await use(target, app);
  await changeSource(installation, async (run, folder) => {
    await sourceChanges.find(({ name }) => name === "a deleted account with its pushes")?.change(run, folder);
  });
  const report = withReport(target);
  for (const options of [["--dry-run"], []]) {
    const run = await target.run(installation, "--newest-deleted", ...options, ...report.options);
    expect(run.exitCode, run.stderr).toBe(3);
    expect(problemsOf(report)).toContain(`users ${leaver.id} partly`);
    expect(report.text()).toContain("It was used or changed here, so the account stays");
  }
  expect(await app.app.domain.accounts.findUserByEmail(leaver.email)).toBeDefined();
});

test("the last administrator stays when the source has no administrator any more, and the run before says so", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
  await changeSource(installation, async (run) => {
    await run("DELETE FROM users WHERE id = 1");
  });
  const report = withReport(target);
  for (const options of [["--dry-run"], []]) {
    const run = await target.run(installation, ...options, ...report.options);
    expect(run.exitCode, run.stderr).toBe(3);
    expect(problemsOf(report)).toContain("users 1 partly");
    expect(report.text()).toContain("It is the last administrator, so the account stays");
  }
});

test("what was edited here and there is verified as edited here", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  await changeSource(installation, (run) => run("DELETE FROM pushes WHERE id = 103"));
  await target.run(installation);
  await edit(await target.serve(), 40, "bob@example.org", { payload: "https://example.com/here" });
  await changeSource(installation, (run) =>
    run("UPDATE pushes SET name = 'Renamed there', updated_at = '2026-11-20 12:30:00' WHERE id = 40"),
  );
  expect((await target.run(installation)).exitCode).toBe(4);
  const { exitCode, stdout } = await target.verify(installation);
  expect(stdout).toContain("push 40 (changed): It was edited here");
  expect(exitCode, stdout).toBe(0);
});

test("an older copy opens nothing that has ended since", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const older = installProduction();
  await changeSource(installation, async (run, folder) => {
    await sourceChanges.find(({ name }) => name === "spent and flagged")?.change(run, folder);
  });
  await target.run(installation);
  const report = withReport(target);
  await target.run(older, ...report.options);
  expect(problemsOf(report)).toContain("pushes 28 kept");
  const app = await target.serve();
  expect((await retrieve(app, 28)).body).toMatchObject({ expired: true, payload: null });
});

test("a copy without the newest rows is refused before the first write, unless they were deleted there", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
  await changeSource(installation, async (run, folder) => {
    await addLeaver(run);
    await sourceChanges.find(({ name }) => name === "a new push")?.change(run, folder);
  });
  await target.run(installation);
  const older = installProduction();
  for (const dryRun of [["--dry-run"], []]) {
    const run = await target.run(older, ...dryRun);
    expect(run.exitCode).toBe(1);
    expect(run.stderr).toMatch(/the newest user that was imported here has the number 40, and the highest .* is 6\./);
  }
  const withUsers = installProduction();
  await changeSource(withUsers, addLeaver);
  const lacksPush = await target.run(withUsers);
  expect(lacksPush.exitCode).toBe(1);
  expect(lacksPush.stderr).toMatch(
    /the newest push that was imported here has the number 500, and the highest .* is 402\./,
  );
  expect((await retrieve(await target.serve(), 500)).status).toBe(200);

  const confirmed = await target.run(older, "--newest-deleted");
  expect(confirmed.stderr).toContain("push 402 (deleted here): The source does not have it any more.");
  expect(confirmed.stdout).toMatch(
    /^[34] rows of earlier runs are not in the source any more and were deleted here\.$/m,
  );
  expect((await retrieve(await target.serve(), 402)).status).toBe(404);
});

test("another installation that began as a copy of the imported one is refused before the first write, with both sides named", async () => {
  const target = makeImportTarget();
  await target.run(installProduction());
  const clone = installProduction((connection) => {
    connection.exec("UPDATE users SET email = 'dora@example.com', created_at = '2026-11-01 10:00:00' WHERE id = 4");
  });
  for (const dryRun of [["--dry-run"], []]) {
    const run = await target.run(clone, ...dryRun);
    expect(run.exitCode).toBe(1);
    expect(run.stderr).toMatch(
      /the user 4 in --database was created at 2026-11-01T10:00:00\.000Z, and the user 4 that was imported/,
    );
  }
  const others = installProduction((connection) =>
    connection.exec("UPDATE pushes SET url_token = 'another-link' WHERE id = 21"),
  );
  const run = await target.run(others);
  expect(run.exitCode).toBe(1);
  expect(run.stderr).toContain("the push 21 in --database");
  expect((await (await target.serve()).app.domain.accounts.findUserByEmail("dora@example.com")) === undefined).toBe(
    true,
  );
});
