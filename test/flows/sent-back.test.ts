import { gunzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { unavailable } from "../../src/base/errors.ts";
import { en } from "../../src/i18n/i18n.ts";
import { startTestApp } from "../support/app.ts";
import { countRows } from "../support/engine-database.ts";
import { encode, everyField, formPages } from "../support/every-form.ts";
import { signInClient } from "../support/signed-in-client.ts";
import { makeSweeper } from "../support/sweeper.ts";

const typedText = "typed canary 7f3a";

test("no form that repeats what was typed is compressed", async () => {
  await using fixture = await startTestApp({ environment: { PWP__THROTTLING__MINUTE: "unlimited" } });
  const ada = await signInClient(fixture, "ada@example.com", { join: true, admin: true });
  const fields = Object.fromEntries(
    Object.keys({ ...everyField, title: "", claim: "", members: "", accent: "", mailDomains: "" }).map((name) => [
      name,
      typedText,
    ]),
  );
  const { type, payload } = encode(fields, "urlencoded");
  const repeating: string[] = [];
  for (const url of formPages(fixture.app.routes)) {
    for (const cookie of [ada.cookie(), ""]) {
      const answer = await fixture.server.inject({
        method: "POST",
        url,
        headers: { "sec-fetch-site": "same-origin", "content-type": type, "accept-encoding": "gzip", cookie },
        payload,
      });
      const isCompressed = answer.headers["content-encoding"] === "gzip";
      const body = isCompressed ? gunzipSync(answer.rawPayload).toString("utf8") : answer.body;
      if (!body.includes(typedText)) continue;
      expect([url, isCompressed]).toEqual([url, false]);
      repeating.push(url);
    }
  }
  const known = ["/p", "/users/sign_in", "/users/sign_up", "/users/edit/email", "/users/token", "/requests"];
  for (const url of known) expect(repeating).toContain(url);
});

/** What is wrong with a form, in the order in which the server says so. */
const faults = ["token", "account", "files", "field"] as const;
type Fault = (typeof faults)[number];
const answers: Readonly<Record<Fault, readonly [status: number, text: string]>> = {
  token: [403, en.sending.outdatedHeading],
  account: [409, en.sending.otherAccountHeading],
  files: [422, en.problems.files({ count: 1 })],
  field: [422, en.problems.range({ min: 1, max: 100 })],
};

const hiddenField = (page: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? "";

test.each(["/p", "edit"] as const)(
  "%s says first that the session is another one, then the files, then the fields, and stores no file",
  async (path) => {
    const environment = { PWP__ENABLE_FILE_PUSHES: "true", PWP__FILES__MAX_FILE_UPLOADS: "1" };
    await using fixture = await startTestApp({ environment });
    const ada = await signInClient(fixture, "ada@example.com", { join: true });
    const page = (await ada.get("/")).body;
    const send = (wrong: ReadonlySet<Fault>, url: string) => {
      const fields = {
        form_token: wrong.has("token") ? "another" : hiddenField(page, "form_token"),
        account: wrong.has("account") ? "987654321" : hiddenField(page, "account"),
        "push[kind]": "file",
        "push[name]": typedText,
        "push[expire_after_views]": wrong.has("field") ? "0" : "3",
      };
      const part = (name: string, value: string, filename = "") =>
        `--b\r\nContent-Disposition: form-data; name="${name}"${filename}\r\n\r\n${value}\r\n`;
      const texts = Object.entries(fields).map(([name, value]) => part(name, value));
      const files = (wrong.has("files") ? ["a", "b"] : ["a"]).map((name) =>
        part("push[files][]", name, `; filename="${name}"`),
      );
      const headers = { cookie: ada.cookie(), "content-type": "multipart/form-data; boundary=b" };
      return fixture.server.inject({
        method: "POST",
        url,
        headers,
        payload: `${[...texts, ...files].join("")}--b--\r\n`,
      });
    };
    // What was abandoned is removed by the next sweep; a live upload is not.
    const uploads = async () => {
      await makeSweeper({ domain: fixture.app.domain, clock: fixture.clock }).sweep();
      return await countRows(fixture.app.domain.db, "uploads");
    };
    let url = "/p";
    if (path === "edit") {
      const made = await send(new Set(), "/p");
      url = `${String(made.headers.location).replace("/preview", "")}/edit`;
    }
    const before = await uploads();
    const wrong = new Set<Fault>(path === "edit" ? ["token", "files", "field"] : faults);
    for (const fault of [...wrong]) {
      const answer = await send(wrong, url);
      const [status, text] = answers[fault];
      expect([fault, answer.statusCode, answer.body.includes(text)]).toEqual([fault, status, true]);
      expect(answer.body).toContain(typedText);
      expect(await uploads()).toBe(before);
      wrong.delete(fault);
    }
  },
);

test("a form comes back although its files cannot be given back", async () => {
  await using fixture = await startTestApp({ environment: { PWP__ENABLE_FILE_PUSHES: "true" } });
  const ada = await signInClient(fixture, "ada@example.com", { join: true });
  const given = vi
    .spyOn(fixture.app.domain.store, "abandonUploads")
    .mockRejectedValue(unavailable("The database does not answer.", 2));
  const fields = { "push[kind]": "file", "push[name]": typedText, account: "987654321" };
  const file = '--b\r\nContent-Disposition: form-data; name="push[files][]"; filename="a"\r\n\r\na\r\n';
  const texts = Object.entries(fields).map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const headers = {
    cookie: ada.cookie(),
    "sec-fetch-site": "same-origin",
    "content-type": "multipart/form-data; boundary=b",
  };
  const body = `${[...texts, file].join("")}--b--\r\n`;
  const answer = await fixture.server.inject({ method: "POST", url: "/p", headers, payload: body });
  expect(given).toHaveBeenCalledOnce();
  expect([answer.statusCode, answer.body.includes(typedText)]).toEqual([409, true]);
});
