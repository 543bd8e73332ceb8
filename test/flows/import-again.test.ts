import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { bearer, type TestApp } from "../support/app.ts";
import { CookieClient } from "../support/cookie-client.ts";
import { stranger } from "../support/domain.ts";
import { appFor } from "../support/factors.ts";
import { expected } from "../support/password-pusher/expected.ts";
import { type ImportTarget, makeImportTarget, problemsOf, withReport } from "../support/password-pusher/import-run.ts";
import {
  type Installation,
  installProduction,
  installProductionOnMysql,
  installProductionOnPostgres,
} from "../support/password-pusher/installations.ts";
import { type Mariadb, mariadbProgram, startMariadb } from "../support/password-pusher/mariadb.ts";
import {
  addLeaver,
  addView,
  changeSource,
  leaver,
  linkOf,
  newPassphrase,
  newPassword,
  newSecret,
  newToken,
  type SourceChange,
  sourceChanges,
} from "../support/password-pusher/source-changes.ts";

const { users, pushes } = expected.production;

/** What clients see of the rows of a change. Uses up views, the same number in each server. */
async function answersOf(app: TestApp, target: ImportTarget, change: SourceChange): Promise<unknown> {
  const pushAnswers: unknown[] = [];
  for (const id of change.pushes ?? []) pushAnswers.push(await answersOfPush(app, id));
  const userAnswers: unknown[] = [];
  for (const email of change.users ?? []) userAnswers.push(await answersOfUser(app, target, email));
  return { pushAnswers, userAnswers };
}

let clients = 0;
/** A client of its own for each request, so that no limit of a client matters. */
function nextAddress(): string {
  clients += 1;
  return `10.${clients >> 16}.${(clients >> 8) & 255}.${clients & 255}`;
}

async function answersOfPush(app: TestApp, id: number): Promise<unknown> {
  const get = async (url: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await app.server.inject({ url, headers, remoteAddress: nextAddress() });
    return { status: answer.statusCode, body: answer.body === "" ? null : answer.json() };
  };
  const link = `/api/v2/pushes/${linkOf(id)}`;
  const ownerToken = await tokenOfOwner(app, linkOf(id));
  const owner = ownerToken === undefined ? {} : bearer(ownerToken);
  const lists = await Promise.all(["active", "expired"].map((list) => get(`/api/v2/pushes/${list}`, owner)));
  const listed = lists.map(({ body }) =>
    Array.isArray(body) ? body.find((push: { url_token: string }) => push.url_token === linkOf(id)) : undefined,
  );
  const trail = await get(`${link}/audit`, owner);
  const passphrases = ["", pushes.find((push) => push.id === id)?.passphrase ?? "", newPassphrase];
  const retrievals: unknown[] = [];
  for (const passphrase of new Set(passphrases)) {
    const { status, body } = await get(`${link}?passphrase=${encodeURIComponent(passphrase)}`);
    const files = (body.files ?? []) as readonly { filename: string; content_type: string; url: string }[];
    const contents = await Promise.all(
      files.map(async ({ filename, content_type: type, url }) => {
        const { rawPayload } = await app.server.inject({ url: new URL(url).pathname });
        return [filename, type, createHash("sha256").update(rawPayload).digest("hex")];
      }),
    );
    retrievals.push({ status, body: { ...body, files: contents } });
  }
  return { listed, trail, retrievals };
}

/** A token of the user who has the push on their list. */
async function tokenOfOwner(app: TestApp, urlToken: string): Promise<string | undefined> {
  const { accounts } = app.app.domain;
  for (const { email } of [...users, { email: "newcomer@example.com" }, { email: "leaver@example.com" }]) {
    const user = await accounts.findUserByEmail(email);
    if (user === undefined) continue;
    const { token } = await accounts.createToken(user.id, "reader");
    for (const list of ["active", "expired"]) {
      const answer = await app.server.inject({ url: `/api/v2/pushes/${list}`, headers: bearer(token) });
      if (answer.json().some((push: { url_token: string }) => push.url_token === urlToken)) return token;
    }
  }
  return undefined;
}

async function answersOfUser(app: TestApp, { clock }: ImportTarget, email: string): Promise<unknown> {
  const { accounts } = app.app.domain;
  const user = await accounts.findUserByEmail(email);
  const known = users.find((each) => each.email === email);
  const signIns: unknown[] = [];
  for (const password of [known?.password ?? "", newPassword]) {
    const address = nextAddress();
    const signedIn = await accounts.signIn({
      email,
      password,
      client: { throttleKey: address, address, userAgent: "test" },
    });
    signIns.push(signedIn?.waitsForFactor);
    if (signedIn?.waitsForFactor !== true) continue;
    const visitor = new CookieClient(app);
    await visitor.signIn(email, password);
    for (const secret of [known?.otp?.secret, newSecret]) {
      if (secret === undefined) continue;
      await visitor.post("/users/second_factor", { code: appFor(secret, () => clock.now()).code() });
      signIns.push(await visitor.signedInAs());
    }
  }
  const tokens: number[] = [];
  for (const token of [known?.api_token, newToken]) {
    if (token == null) continue;
    const headers = { "x-user-token": token, "x-user-email": email };
    tokens.push((await app.server.inject({ url: "/p/active.json", headers })).statusCode);
  }
  if (user === undefined) return { signIns, tokens };
  const { id: _, ...account } = user;
  return { account, signIns, tokens };
}

interface Source {
  readonly installation: Installation;
  readonly writerUrl?: string;
}

async function expectSameAsFresh({ installation, writerUrl }: Source): Promise<void> {
  await changeSource(installation, addLeaver, writerUrl);
  const second = makeImportTarget();
  const first = await second.run(installation);
  expect(first.exitCode, first.stderr).toBe(3);
  await changeSource(
    installation,
    async (run, folder) => {
      for (const { change } of sourceChanges) await change(run, folder);
    },
    writerUrl,
  );
  const report = withReport(second);
  const dry = await second.run(installation, "--dry-run", ...report.options);
  expect(dry.exitCode, dry.stderr).toBe(3);
  const planned = report.read();
  const again = await second.run(installation, ...report.options);
  expect(again.exitCode, again.stderr + again.stdout).toBe(3);
  const told = report.read();
  expect(told).toMatchObject({ differences: [], kept: 0 });
  expect([planned.updated, planned.withdrawn]).toEqual([told.updated, told.withdrawn]);
  expect(again.stdout).toContain(`${told.withdrawn} rows of earlier runs are not in the source any more`);
  const isDone = ({ effect }: { effect: string }) => effect === "updated" || effect === "withdrawn";
  const updated = told.problems.filter(isDone);
  const fresh = makeImportTarget();
  expect((await fresh.run(installation)).exitCode).toBe(3);
  const [updatedApp, freshApp] = [await second.serve(), await fresh.serve()];
  for (const change of sourceChanges) {
    for (const id of change.pushes ?? []) {
      const isNew = [500, 501].includes(id);
      if (!isNew) expect(updated, change.name).toContainEqual(expect.objectContaining({ table: "pushes", id }));
    }
    expect(await answersOf(updatedApp, second, change), change.name).toEqual(await answersOf(freshApp, fresh, change));
  }
  const third = await second.run(installation, ...report.options);
  expect(third.exitCode).toBe(3);
  expect(report.read().problems.map(({ effect }: { effect: string }) => effect)).toEqual(["left_out"]);
}

describe("a second run gives what a first import would give, for a source", () => {
  it("on SQLite", async () => await expectSameAsFresh({ installation: installProduction() }));

  it("on PostgreSQL", async () => await expectSameAsFresh({ installation: await installProductionOnPostgres() }));
});

describe.runIf(mariadbProgram !== undefined)("a second run gives what a first import would give, for a source", () => {
  let mariadb: Mariadb | undefined;
  beforeAll(async () => {
    mariadb = await startMariadb(mariadbProgram ?? "");
  });
  afterAll(() => mariadb?.[Symbol.asyncDispose]());

  it("on MariaDB", async () => {
    if (mariadb === undefined) throw new Error("MariaDB has not been started.");
    const installation = await installProductionOnMysql(mariadb);
    const writerUrl = installation.database.replace("reader:", "writer:").replace("mysql2:", "mysql:");
    await expectSameAsFresh({ installation, writerUrl });
  });
});

test("another address at the source moves the account, and its lists lose the links, which still open", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  // It cannot be decrypted, which would hide the exit code.
  await changeSource(installation, (run) => run("DELETE FROM pushes WHERE id = 103"));
  expect((await target.run(installation)).exitCode).toBe(0);
  const carol = users.find(({ email }) => email === "carol@example.net");
  const [renamed, unchanged] = [43, 61];
  const newEmail = "carol.new@example.net";
  await changeSource(installation, async (run) => {
    await run("UPDATE users SET email = ? WHERE id = ?", newEmail, carol?.id ?? 0);
    await run("UPDATE pushes SET name = 'Renamed there' WHERE id = ?", renamed);
  });
  expect((await target.run(installation)).exitCode).toBe(0);
  const app = await target.serve();
  const { accounts, pushes: here } = app.app.domain;
  const signIn = (email: string) =>
    accounts.signIn({
      email,
      password: carol?.password ?? "",
      client: { throttleKey: email, address: nextAddress(), userAgent: "test" },
    });
  expect([await signIn("carol@example.net"), await signIn(newEmail)]).toEqual([undefined, expect.anything()]);
  const { id: ownerId } = (await accounts.findUserByEmail(newEmail)) ?? { id: 0 };
  const listed = [...(await here.list(ownerId, "active", 1))];
  expect(new Set(listed.map(({ urlToken }) => urlToken))).toEqual(new Set([null]));
  expect(listed).toContainEqual(expect.objectContaining({ name: "Renamed there" }));
  for (const id of [renamed, unchanged])
    expect(await here.find(linkOf(id), stranger)).toMatchObject({ expired: false });
  const { exitCode, stdout } = await target.verify(installation);
  expect(exitCode, stdout).toBe(0);
  for (const id of [renamed, unchanged]) {
    expect(stdout).toContain(`push ${id} (changed): Its owner's lists show no link of it here.`);
  }
});

test("views there and here are added up at each run, and end the push together", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const [owned, anonymous] = leaver.pushes;
  await changeSource(installation, async (run) => {
    // It cannot be decrypted, which would hide the exit code.
    await run("DELETE FROM pushes WHERE id = 103");
    await addLeaver(run);
    await run("UPDATE pushes SET user_id = NULL, expire_after_views = 3 WHERE id = ?", anonymous);
    await addView(run, anonymous);
  });
  expect((await target.run(installation)).exitCode).toBe(0);
  const app = await target.serve();
  const viewEverywhere = async (ids: readonly number[]) => {
    for (const id of ids) await app.server.inject({ url: `/api/v2/pushes/${linkOf(id)}` });
    await changeSource(installation, async (run) => {
      for (const id of ids) await addView(run, id);
    });
  };
  const used = async (id: number) => {
    const { views, viewsRemaining, expired } = (await app.app.domain.pushes.find(linkOf(id), stranger)) ?? {};
    return { views, viewsRemaining, expired };
  };
  const report = withReport(target);
  const runTwice = async () => {
    for (const options of [["--dry-run"], []]) {
      const { exitCode, stdout, stderr } = await target.run(installation, ...options, ...report.options);
      expect(exitCode, stderr).toBe(4);
      expect(stdout).toMatch(/^(?:1 row of earlier runs was|2 rows of earlier runs were) changed there and here: /m);
    }
    const rows = problemsOf(report).sort();
    expect((await target.run(installation, ...report.options)).exitCode).toBe(0);
    expect((await target.verify(installation)).exitCode).toBe(0);
    return rows;
  };

  await viewEverywhere([owned, anonymous]);
  expect((await target.verify(installation)).stdout).toContain(
    `push ${owned} (failed): It was viewed at the source since the last import, and these views (1) do not count here.`,
  );
  expect(await runTwice()).toEqual([`pushes ${owned} kept`, `pushes ${anonymous} kept`]);
  expect(await used(owned)).toEqual({ views: 2, viewsRemaining: 3, expired: false });
  expect(await used(anonymous)).toEqual({ views: 3, viewsRemaining: 0, expired: true });
  const answer = await app.server.inject({ url: `/api/v2/pushes/${linkOf(anonymous)}` });
  expect(answer.json()).toMatchObject({ payload: null, expired: true, deleted: false });

  await viewEverywhere([owned]);
  expect(await runTwice()).toEqual([`pushes ${owned} kept`]);
  expect(await used(owned)).toEqual({ views: 4, viewsRemaining: 1, expired: false });

  await changeSource(installation, async (run) => void (await addView(run, owned)));
  expect(await runTwice()).toEqual([`pushes ${owned} kept`]);
  expect(await used(owned)).toEqual({ views: 5, viewsRemaining: 0, expired: true });
});
