import { describe, expect, test, vi } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { rootEmail } from "../support/administrators.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type SignedInClient, signInClient } from "../support/signed-in-client.ts";

const { admin } = en;
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

async function open(): Promise<{ readonly fixture: TestApp & AsyncDisposable; readonly root: SignedInClient }> {
  const fixture = await startTestApp();
  return { fixture, root: await signInClient(fixture, rootEmail, { join: true, admin: true }) };
}

/** Sends a logo as a browser does, with any file name. */
async function sendLogo(
  fixture: TestApp,
  root: SignedInClient,
  bytes: Buffer,
  filename: string,
  type: string,
  field?: string,
) {
  const boundary = "boundary";
  const button =
    field === undefined ? "" : `\r\n--${boundary}\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n1`;
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="logo"; filename="${filename}"\r\ncontent-type: ${type}\r\n\r\n`;
  return fixture.server.inject({
    method: "POST",
    url: "/admin/look/logo",
    headers: {
      cookie: root.cookie(),
      "sec-fetch-site": "same-origin",
      "content-type": `multipart/form-data; boundary=${boundary}`,
    },
    payload: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`${button}\r\n--${boundary}--\r\n`)]),
  });
}

const linkedStyle = (body: string) => /<link rel="stylesheet" href="(\/branding\/[^"]+)"/.exec(body)?.[1];

describe("the instance's accent colour", () => {
  test("applies to every page, as a file that browsers may keep, until it is reset", async () => {
    const { fixture, root } = await open();
    await using _ = fixture;
    expect((await root.post("/admin/look/accent", { accent: "#0B3D91" })).status).toBe(303);
    for (const path of ["/", "/admin/look"]) {
      const { body } = await root.get(path);
      const href = linkedStyle(body) ?? "";
      expect(href).toMatch(/^\/branding\/accent-[0-9a-f]{16}\.css$/);
      const { body: css, headers } = await fixture.server.inject(href);
      expect(css).toContain("--accent:light-dark(#0b3d91,");
      expect([headers["content-type"], headers["cache-control"]]).toEqual([
        "text/css; charset=utf-8",
        expect.stringContaining("immutable"),
      ]);
    }
    expect((await root.get("/admin/look")).body).toContain('name="accent" value="#0b3d91"');
    expect(await fixture.app.domain.accounts.listAdminEntries(1)).toMatchObject([
      { action: "changed_branding", subject: "accent" },
    ]);
    expect((await root.get("/admin/trail")).body).toContain(admin.accent);
    expect((await root.post("/admin/look/accent/reset")).status).toBe(303);
    expect(linkedStyle((await root.get("/")).body)).toBeUndefined();
  });

  test("is previewed without being stored, beside the style sheet", async () => {
    const { fixture, root } = await open();
    await using _ = fixture;
    await root.post("/admin/look/style", { style: "h1 { color: red }" });
    const { status, body, headers } = await root.post("/admin/look/accent", { accent: "#0b3d91", preview: "1" });
    expect(status).toBe(200);
    expect(body).toContain(
      "<style>@supports (color:light-dark(red,red)){@layer design{:root{--accent:light-dark(#0b3d91,",
    );
    expect(headers["content-security-policy"]).toContain("'sha256-");
    expect(linkedStyle(body)).toMatch(/style-/);
    expect((await root.get("/")).body).not.toContain("accent-");
  });

  test("is refused with its contrast if text in it could not be read", async () => {
    const { fixture, root } = await open();
    await using _ = fixture;
    const light = await root.post("/admin/look/accent", { accent: "#f5a623" });
    expect([light.status, light.body.includes(admin.lightAccent({ contrast: "1.7", least: "4.5" }))]).toEqual([
      422,
      true,
    ]);
    expect(light.body).toContain('name="accent" value="#f5a623"');
    const odd = await root.post("/admin/look/accent", { accent: "#fff}a{" });
    expect([odd.status, odd.body.includes(admin.badAccent)]).toEqual([422, true]);
    expect(await fixture.app.domain.accounts.listAdminEntries(1)).toEqual([]);
  });
});

describe("the instance's own name", () => {
  test("is shown as text everywhere, even if it looks like markup", async () => {
    const { fixture, root } = await open();
    await using _ = fixture;
    expect((await root.post("/admin/look/name", { name: "<b>A & B</b>" })).status).toBe(303);
    for (const path of ["/", "/users/sign_in", "/there/is/no/such/page", "/admin/look"]) {
      const { body } = await (path.startsWith("/admin") ? root.get(path) : fixture.server.inject(path));
      expect(body).toContain("&lt;b>A &amp; B&lt;/b></span>");
      expect(body).not.toContain("<b>A");
      expect(body).toMatch(/<title>[^<]* · &lt;b>A &amp; B&lt;\/b><\/title>/);
      expect(body).not.toContain("Sealpush</");
    }
    expect((await root.post("/admin/look/name/reset")).status).toBe(303);
    expect((await fixture.server.inject("/")).body).toContain("Sealpush</span>");
  });

  test("is confirmed when it is saved, and when it is reset", async () => {
    const { fixture, root } = await open();
    await using _ = fixture;
    const { location: saved = "" } = await root.post("/admin/look/name", { name: "Vault" });
    expect((await root.get(saved)).body).toContain(admin.saved);
    const { location: reset = "" } = await root.post("/admin/look/name/reset");
    const { body } = await root.get(reset);
    expect([body.includes(admin.resetDone), body.includes(admin.saved)]).toEqual([true, false]);
  });

  test.each(["", " ", "a".repeat(61), "a\u202eb", "a\nb", "a\u0000"])(
    "is refused as %j, and kept as typed",
    async (name) => {
      const { fixture, root } = await open();
      await using _ = fixture;
      const answer = await root.post("/admin/look/name", { name });
      expect(answer.status).toBe(422);
      expect(answer.body).toContain(admin.badName({ max: 60 }));
      expect((await fixture.server.inject("/")).body).toContain("Sealpush</span>");
      expect(await fixture.app.domain.accounts.listAdminEntries(1)).toEqual([]);
    },
  );

  test("is shown by authenticator apps and new passkeys", async () => {
    const { fixture, root } = await open();
    await using _ = fixture;
    await root.post("/admin/look/name", { name: "Example: Vault" });
    const offer = vi.spyOn(fixture.app.domain.accounts, "offerAuthenticatorApp");
    await root.get("/users/factors/authenticator_app");
    expect(offer.mock.results.map(({ value }) => new URL(value.uri).searchParams.get("issuer"))).toEqual([
      "Example  Vault (localhost)",
    ]);
    const headers = { host: "localhost", cookie: root.cookie(), "sec-fetch-site": "same-origin" };
    const answer = await fixture.server.inject({ method: "POST", url: "/users/factors/passkeys/options", headers });
    expect(answer.json()).toMatchObject({ rp: { name: "Example: Vault", id: "localhost" } });
  });
});

describe("the instance's own logo", () => {
  test("is served with its own type, is cached by browsers, and cannot run scripts", async () => {
    const { fixture, root } = await open();
    await using _ = fixture;
    expect((await sendLogo(fixture, root, png, "evil.html", "text/html")).statusCode).toBe(303);
    const source = /<img class="brand-logo" src="([^"]+)"/.exec((await fixture.server.inject("/")).body)?.[1] ?? "";
    expect(source).toMatch(/^\/branding\/logo-[0-9a-f]{16}\.png$/);
    const answer = await fixture.server.inject(source);
    expect(answer.rawPayload.equals(png)).toBe(true);
    expect(answer.headers).toMatchObject({
      "content-type": "image/png",
      "x-content-type-options": "nosniff",
      "cache-control": "public, max-age=31536000, immutable",
    });
    expect(answer.headers["content-security-policy"]).toMatch(/^default-src 'none'/);
    expect(answer.headers["content-security-policy"]).not.toContain("unsafe-");
    expect(answer.headers["set-cookie"]).toBeUndefined();
    await root.post("/admin/look/logo/reset");
    expect((await fixture.server.inject(source)).statusCode).toBe(404);
  });

  test.each([
    ["HTML", Buffer.from("<!doctype html><script>alert(1)</script>")],
    ["SVG", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')],
    ["nothing", Buffer.alloc(0)],
    ["a picture that is too large", Buffer.concat([png, Buffer.alloc(256 * 1024)])],
  ])("is refused if it is %s with a name that ends in .png", async (_what, bytes) => {
    const { fixture, root } = await open();
    await using _ = fixture;
    const answer = await sendLogo(fixture, root, bytes, "logo.png", "image/png");
    expect(answer.statusCode).toBe(422);
    expect(answer.body).toContain(en.formats.bytes(256 * 1024));
    expect(fixture.app.domain.branding.theme().logo).toBeUndefined();
  });

  test.each([
    "../master.key",
    "%2e%2e%2fmaster.key",
    "logo.png",
    "style-0000000000000000.css",
    "logo-0000000000000000.png",
  ])("is not found under another file name: %s", async (filename) => {
    await using fixture = await startTestApp();
    expect((await fixture.server.inject(`/branding/${filename}`)).statusCode).toBe(404);
  });
});

describe("the instance's own style sheet", () => {
  test("is linked from every page except the one that changes it, and can be removed there", async () => {
    const { fixture, root } = await open();
    await using _ = fixture;
    const broken = "* { display: none !important }";
    expect((await root.post("/admin/look/style", { style: broken })).status).toBe(303);
    const href = linkedStyle((await fixture.server.inject("/users/sign_in")).body) ?? "";
    const answer = await fixture.server.inject(href);
    expect(answer.body).toBe("*{display:none!important}");
    expect(answer.headers).toMatchObject({
      "content-type": "text/css; charset=utf-8",
      "x-content-type-options": "nosniff",
      "cache-control": "public, max-age=31536000, immutable",
    });
    expect(linkedStyle((await root.get("/admin/users")).body)).toBe(href);
    const theme = (await root.get("/admin/look")).body;
    expect(linkedStyle(theme)).toBeUndefined();
    expect(theme).toContain("*{display:none!important}</textarea>");
    // The same holds when the page is shown again with a mistake.
    expect(linkedStyle((await root.post("/admin/look/style", { style: "@import 'x'" })).body)).toBeUndefined();
    expect((await root.post("/admin/look/style/reset")).status).toBe(303);
    expect(linkedStyle((await fixture.server.inject("/")).body)).toBeUndefined();
  });

  test.each([
    [
      "an address",
      "a { color: red }\nb { background: url(//evil.example) }",
      "Line 2, column 17: url() is not allowed",
    ],
    ["the text of an attribute", "a::after { content: attr(href) }", "Line 1, column 21: attr() is not allowed"],
    ["an import", '@import "//evil.example/x.css";', "Line 1, column 1: @import is not allowed here."],
    ["a font", "a{}\n  @font-face { src: local(a) }", "Line 2, column 3: @font-face is not allowed here."],
    ["markup", "</style><script>alert(1)</script>", "this is not valid CSS."],
    ["too much", "a { color: red }".repeat(5_000), "The style sheet is longer than 64 kB."],
  ])("with %s is refused with line and column, and the typed text is kept", async (_what, style, sentence) => {
    const { fixture, root } = await open();
    await using _ = fixture;
    const answer = await root.post("/admin/look/style", { style });
    expect(answer.status).toBe(422);
    expect(answer.body).toContain(sentence);
    expect(answer.body).toContain(style.slice(0, 60).replaceAll("<", "&lt;").replaceAll('"', "&quot;"));
    expect(answer.body).not.toContain("<script>alert");
    expect(fixture.app.domain.branding.theme().style).toBeUndefined();
    expect(await fixture.app.domain.accounts.listAdminEntries(1)).toEqual([]);
  });
});

describe("a preview", () => {
  test("shows a name, a logo or a style sheet, and stores nothing", async () => {
    const { fixture, root } = await open();
    await using _ = fixture;
    const name = await root.post("/admin/look/name", { name: "A & B", preview: "1" });
    expect([name.status, name.body.includes("A &amp; B</span>")]).toEqual([200, true]);
    const logo = await sendLogo(fixture, root, png, "logo.png", "image/png", "preview");
    expect(logo.body).toContain(`<img class="brand-logo" src="data:image/png;base64,${png.toString("base64")}"`);
    expect(logo.headers["content-security-policy"]).toContain("style-src 'self';");
    const style = await root.post("/admin/look/style", { style: "h1 { color: red }", preview: "1" });
    expect(style.body).toContain("<style>h1{color:red}</style>");
    expect(linkedStyle(style.body)).toBeUndefined();
    const { theme } = fixture.app.domain.branding;
    expect(theme()).toEqual({ name: undefined, logo: undefined, style: undefined });
    expect(await fixture.app.domain.accounts.listAdminEntries(1)).toEqual([]);
  });

  test("is refused as the change itself would be", async () => {
    const { fixture, root } = await open();
    await using _ = fixture;
    const name = await root.post("/admin/look/name", { name: " ", preview: "1" });
    expect([name.status, name.body.includes(admin.badName({ max: 60 }))]).toEqual([422, true]);
    const logo = await sendLogo(fixture, root, Buffer.from("<svg/>"), "logo.png", "image/png", "preview");
    expect(logo.statusCode).toBe(422);
    const style = await root.post("/admin/look/style", { style: "@import 'x'", preview: "1" });
    expect([style.status, style.body.includes("@import is not allowed here.")]).toEqual([422, true]);
  });
});
