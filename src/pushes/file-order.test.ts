import { makeLinkKey } from "@sealpush/age/link-key";
import { sealText } from "@sealpush/age/seal";
import { describe, expect, onTestFinished, test } from "vitest";
import { openTestDomain, signedIn, stranger, type TestDomain } from "../../test/support/domain.ts";
import { contents } from "../../test/support/edited-push.ts";
import { changeRows, readRows } from "../../test/support/engine-database.ts";
import { makeFile } from "../../test/support/files.ts";
import { pushDepsOf } from "../../test/support/push-deps.ts";
import { chunksOf } from "../../test/support/resumable-uploads.ts";
import { environmentOf, startObjectStore } from "../../test/support/s3/object-store.ts";
import { adoptPush } from "./create/adopt-push.ts";
import { type CreatePush, createPushes, type Pushes, type Upload } from "./pushes.ts";
import { listFiles, positionFiles } from "./seals.ts";

const owner = signedIn(7);
const names = ["c", "a", "d", "b"];

/** As of other processes, which have reserved other blocks: each id is lower than the one before. */
function fallingIds() {
  let next = 1_000_000;
  return { next: async () => next-- };
}

/** Operations that draw such ids. */
const pushesOf = (fixture: TestDomain) => createPushes(pushDepsOf(fixture, { ids: fallingIds() }));

/** As of a sealed file, so that every kind of push takes it. */
const contentIn = (name: string) => `age-encryption.org/v1\n-> X25519 in ${name}`;

async function add(upload: Upload, files: readonly string[]): Promise<Upload> {
  for (const name of files) await upload.addFile(makeFile(name, contentIn(name)));
  return upload;
}

/** Sends a file in a request of its own. @returns its address. */
async function sendAlone(pushes: Pushes, name: string): Promise<string> {
  const bytes = Buffer.from(contentIn(name));
  const file = { filename: name, contentType: "text/plain", sizeBytes: bytes.length };
  const { address } = await pushes.openUpload(file, owner);
  await pushes.receiveUpload(address, 0, chunksOf(bytes), owner);
  return address;
}

async function create(pushes: Pushes, request: CreatePush = {}, files = names): Promise<string> {
  const upload = await add(await pushes.beginUpload(owner), files);
  return (await pushes.create({ expireAfterViews: 50, ...request, upload }, owner)).urlToken;
}

/** Wherever files are listed, their order is the same. */
async function expectOrder(fixture: TestDomain, urlToken: string, expected: readonly string[]): Promise<void> {
  const { pushes } = fixture.domain;
  const found = await contents(fixture, urlToken);
  expect(Object.entries(found)).toEqual(expected.map((name) => [name, contentIn(name)]));
  const editable = await pushes.findEditable(urlToken, owner);
  expect(editable?.files.map(({ filename }) => filename)).toEqual(expected);
}

describe.each(["folder", "S3"])(
  "with files in a %s, a push whose ids have another order opens, and keeps the form's:",
  (place) => {
    async function open(): Promise<TestDomain> {
      const environment = place === "S3" ? environmentOf(await startObjectStore()) : {};
      const fixture = await openTestDomain({ environment });
      onTestFinished(() => fixture[Symbol.asyncDispose]());
      return fixture;
    }

    test("files of a form", async () => {
      const fixture = await open();
      await expectOrder(fixture, await create(pushesOf(fixture)), names);
    });

    test("files sent in several requests, and of both kinds in turns", async () => {
      const fixture = await open();
      const pushes = pushesOf(fixture);
      const addresses = new Map<string, string>();
      for (const name of ["d", "a", "b", "c"]) addresses.set(name, await sendAlone(pushes, name));
      const upload = await pushes.beginUpload(owner);
      for (const name of names) {
        await upload.addUploaded(addresses.get(name) ?? "");
        await add(upload, [`${name} of the form`]);
      }
      const { urlToken } = await pushes.create({ upload, expireAfterViews: 50 }, owner);
      await expectOrder(
        fixture,
        urlToken,
        names.flatMap((name) => [name, `${name} of the form`]),
      );
    });

    test("files that were sealed before they got here", async () => {
      const fixture = await open();
      const { recipient } = await makeLinkKey();
      const payload = await sealText("list", recipient, "");
      await expectOrder(fixture, await create(pushesOf(fixture), { payload, encryption: "age" }), names);
    });

    test("imported files", async () => {
      const fixture = await open();
      const deps = { ...pushDepsOf(fixture, { ids: fallingIds() }), db: fixture.domain.db };
      const now = fixture.clock.now();
      const urlToken = "a-link-of-another-server";
      const push = {
        urlToken,
        kind: "file" as const,
        ownerId: 7,
        name: "",
        note: "",
        open: { payload: "", passphrase: "", files: names.map((name) => makeFile(name, contentIn(name))) },
        end: null,
        expireAfterDays: 7,
        expireAfterViews: 50,
        views: 0,
        refusals: 0,
        createdAt: now,
        updatedAt: now,
        trail: [],
        deletableByViewer: false,
        retrievalStep: false,
        notifyOnView: false,
        senderShown: false,
      };
      expect(await adoptPush(deps, push, async () => "recorded")).toMatchObject({ outcome: "imported" });
      await expectOrder(fixture, urlToken, names);
    });

    test("files that an edit adds come last, also if it removes others", async () => {
      const fixture = await open();
      const pushes = pushesOf(fixture);
      const urlToken = await create(pushes);
      const [, , , last] = (await pushes.findEditable(urlToken, owner))?.files ?? [];
      const upload = await add(await pushes.beginUpload(owner), ["z", "e"]);
      const edit = { upload, removedFileIds: [last?.id ?? 0] };
      expect(await pushes.edit(urlToken, edit, owner)).toMatchObject({ outcome: "edited" });
      await expectOrder(fixture, urlToken, ["c", "a", "d", "z", "e"]);
      expect(await pushes.edit(urlToken, { payload: "text" }, owner)).toMatchObject({ outcome: "edited" });
      await expectOrder(fixture, urlToken, ["c", "a", "d", "z", "e"]);
    });

    test("a repeated creation compares the files in this order, and a repeated retrieval returns it", async () => {
      const fixture = await open();
      const pushes = pushesOf(fixture);
      const idempotencyKey = "a-random-key-of-the-client";
      const urlToken = await create(pushes, { idempotencyKey });
      expect(await create(pushes, { idempotencyKey })).toBe(urlToken);
      await expect(create(pushes, { idempotencyKey }, names.toReversed())).rejects.toMatchObject({
        fields: { idempotencyKey: expect.anything() },
      });
      const claim = () =>
        pushes.claimView(urlToken, { counting: "everyone", reserveAnswer: () => undefined, idempotencyKey }, stranger);
      for (const repeated of [false, true]) {
        const claimed = await claim();
        const files = claimed.outcome === "revealed" ? claimed.files : [];
        expect(claimed).toMatchObject({ outcome: "revealed", repeated });
        expect(files.map(({ filename }) => filename)).toEqual(names);
      }
    });
  },
);

test("when the order of files is changed in the database, the push does not open and loses no view", async () => {
  await using fixture = await openTestDomain();
  const { db, pushes } = fixture.domain;
  const urlToken = await create(pushes);
  const move = (from: number, to: number) =>
    changeRows(db, "UPDATE files SET position = ? WHERE position = ?", to, from);
  await move(4, 5);
  await expect(contents(fixture, urlToken)).rejects.toThrow(/do not match/);
  await move(1, 4);
  await move(5, 1);
  await expect(contents(fixture, urlToken)).rejects.toThrow(/do not match/);
  expect(await readRows(db, "SELECT views FROM pushes")).toEqual([{ views: 0 }]);
});

test("positions of removed files are not used again", () => {
  const file = { id: 1, sizeBytes: 1 };
  const present = listFiles([
    { ...file, position: 7 },
    { ...file, position: 2 },
  ]);
  expect(present.map(({ position }) => position)).toEqual([2, 7]);
  expect(positionFiles([file, file], present).map(({ position }) => position)).toEqual([8, 9]);
  expect(positionFiles([file]).map(({ position }) => position)).toEqual([1]);
});
