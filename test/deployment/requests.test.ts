import { ownerProofOf } from "@sealpush/age/key-check";
import { type LinkKey, makeLinkKey } from "@sealpush/age/link-key";
import { openFile } from "@sealpush/age/open";
import { beforeAll, expect, test } from "vitest";
import { bearer } from "../support/app.ts";
import { openDeployment } from "../support/deployment.ts";
import type { Owner } from "../support/owner.ts";
import { openAnswer } from "../support/sealed-content.ts";

const deployment = openDeployment({ environment: { PWP__REQUESTS__ALLOW_ANONYMOUS: "true" } });
const path = "/api/sealpush/requests";

let owner: Owner;
let key: LinkKey;
beforeAll(async () => {
  owner = await deployment.makeUser("ada@example.com");
  key = await makeLinkKey();
});

async function ask(more: object, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const request = { title: "Root password", recipient: key.recipient, encryption_check: key.check, ...more };
  const made = await deployment.api(path, { body: { request }, headers });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.url_token;
}

/** Two files, because several are sealed with the list of them. */
function answerWithFiles(): FormData {
  const form = new FormData();
  form.append("payload", "see the files");
  form.append("files[]", new Blob(["the plan"]), "plan.txt");
  form.append("files[]", new Blob(["the key"]), "key.txt");
  return form;
}

deployment.test("an answer with files is opened by the other process, through whichever it came", async () => {
  const request = await ask({ wants_files: true, answers_max: 2 }, bearer(owner.apiToken));
  for (const _ of ["each", "process"]) {
    const sent = await deployment.fetch(`${path}/${request}`, { method: "POST", body: answerWithFiles() });
    expect(sent.status).toBe(201);
    await deployment.api(`${path}/${request}`);
  }
  const { body } = await deployment.api(`${path}/${request}/answers`, { headers: bearer(owner.apiToken) });
  expect(body).toMatchObject({ answers: 2, state: "full" });
  for (const { url_token: answer } of body.pushes) {
    const { payload, files } = (await deployment.api(`/api/v2/pushes/${answer}`, { headers: bearer(owner.apiToken) }))
      .body;
    const content = await openAnswer(payload, key.identity, request);
    expect(content).toMatchObject({ text: "see the files", files: [{ name: "plan.txt" }, { name: "key.txt" }] });
    const contents: string[] = [];
    for (const [at, { url }] of files.entries()) {
      const download = await deployment.fetch(deployment.pathOf(url));
      const opened = await openFile(download.body ?? new Blob().stream(), content.files?.[at]?.identity ?? "");
      contents.push(await new Response(opened).text());
    }
    expect(contents).toEqual(["the plan", "the key"]);
  }
});

test("a request takes no more answers than it allows, sent to both processes at once", async () => {
  const request = await ask({ answers_max: 3 }, bearer(owner.apiToken));
  const body = { payload: "hunter2" };
  const sent = await Promise.all(Array.from({ length: 12 }, () => deployment.api(`${path}/${request}`, { body })));
  expect(sent.map(({ status }) => status).sort()).toEqual([...Array(3).fill(201), ...Array(9).fill(422)]);
  const shown = await deployment.api(`${path}/${request}/answers`, { headers: bearer(owner.apiToken) });
  expect(shown.body.pushes).toHaveLength(3);
});

deployment.test("a request without an account is closed and deleted by its proof, which both see", async () => {
  const proof = await ownerProofOf(key.identity);
  const headers = { "x-request-proof": proof };
  const request = await ask({ owner_proof: proof, answers_max: 2 });
  expect((await deployment.api(`${path}/${request}`, { body: { payload: "hunter2" } })).status).toBe(201);
  expect((await deployment.api(`${path}/${request}/close`, { body: {}, headers })).body.state).toBe("closed");
  for (const _ of ["each", "process"]) {
    const late = await deployment.api(`${path}/${request}`, { body: { payload: "late" } });
    expect([late.status, late.body]).toEqual([422, { request: ["takes no more answers."] }]);
  }
  const { body } = await deployment.api(`${path}/${request}/answers`, { headers });
  expect((await deployment.api(`${path}/${request}`, { method: "DELETE", headers })).status).toBe(200);
  for (const _ of ["each", "process"]) {
    expect((await deployment.api(`${path}/${request}/answers`, { headers })).status).toBe(404);
    const answer = await deployment.api(`/api/v2/pushes/${body.pushes[0].url_token}`);
    expect(answer.body).toMatchObject({ expired: true, payload: null });
  }
});
