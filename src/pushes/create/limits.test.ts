import { describe, expect, test } from "vitest";
import { testConfig } from "../../../test/support/domain.ts";
import { dayMs, minuteMs } from "../../base/clock.ts";
import type { CreatePush, KindName, Upload } from "../push.ts";
import { findInstantProblems, findProblems, isWebAddress, lifetimeOf } from "./limits.ts";

const config = testConfig("/nowhere");

function uploadOf(fileCount: number): Upload {
  const nothing = async () => undefined;
  return { fileCount, addFile: nothing, addUploaded: nothing, abandon: nothing };
}

/** The fields that are refused. */
function refused(request: CreatePush, kind: KindName = "text", environment: Record<string, string> = {}): string[] {
  const settings = Object.keys(environment).length === 0 ? config : testConfig("/nowhere", environment);
  return Object.keys(findProblems({ payload: "x", ...request }, kind, settings));
}

describe("days and views", () => {
  test.each([
    ["expireAfterDays", 1, 90],
    ["expireAfterViews", 1, 100],
  ] as const)("%s accepts only %i to %i", (field, min, max) => {
    for (const value of [min, min + 1, max]) expect(refused({ [field]: value })).toEqual([]);
    const bad = [min - 1, max + 1, -1, 0, 1.5, 1e9, 2 ** 53, Number.NaN, Infinity, -Infinity, Number.MIN_VALUE];
    for (const value of bad) expect(refused({ [field]: value })).toEqual([field]);
    expect(findProblems({ payload: "x", [field]: 1_000 }, "text", config)[field]).toEqual([
      `must be between ${min} and ${max}.`,
    ]);
  });

  test("each kind has bounds of its own", () => {
    const environment = { PWP__URL__EXPIRE_AFTER_DAYS_MAX: "14", PWP__URL__EXPIRE_AFTER_VIEWS_MIN: "3" };
    const url = { payload: "https://example.com/" };
    expect(refused({ ...url, expireAfterDays: 15, expireAfterViews: 2 }, "url", environment)).toEqual([
      "expireAfterDays",
      "expireAfterViews",
    ]);
    expect(refused({ expireAfterDays: 15, expireAfterViews: 2 }, "text", environment)).toEqual([]);
  });

  test("a duration must be within the days of the kind, in whole milliseconds", () => {
    expect(refused({ expireAfterMs: 15 * minuteMs })).toEqual([]);
    expect(refused({ expireAfterMs: 90 * dayMs })).toEqual([]);
    const bad = [90 * dayMs + 1, 0, -1, -dayMs, 0.5, 15 * minuteMs + 0.1, Number.NaN, Infinity];
    for (const expireAfterMs of bad) expect(refused({ expireAfterMs })).toEqual(["expireAfterDuration"]);
    // The duration wins, so invalid days are ignored.
    expect(refused({ expireAfterMs: dayMs, expireAfterDays: 0 })).toEqual([]);
  });

  test("missing values take the instance's defaults; a duration is reported in days, rounded up", () => {
    const lifetime = (request: CreatePush) => lifetimeOf(request, config.kinds.text, 5_000);
    expect(lifetime({})).toEqual({ expireAfterDays: 7, expireAfterViews: 5, expiresAt: 5_000 + 7 * dayMs });
    expect(lifetime({ expireAfterMs: 15 * minuteMs, expireAfterDays: 80, expireAfterViews: 2 })).toEqual({
      expireAfterDays: 1,
      expireAfterViews: 2,
      expiresAt: 5_000 + 15 * minuteMs,
    });
    expect(lifetime({ expireAfterMs: dayMs + 1 }).expireAfterDays).toBe(2);
    expect(lifetime({ expiresAt: 5_000 + dayMs + 1, expireAfterMs: minuteMs, expireAfterDays: 80 })).toMatchObject({
      expireAfterDays: 2,
      expiresAt: 5_000 + dayMs + 1,
    });
  });

  test("an instant is a minute to the longest life of the kind ahead, and overrides the other limits of time", () => {
    expect(refused({ expiresAt: 1, expireAfterMs: 0, expireAfterDays: 0 })).toEqual([]);
    for (const expiresAt of [Number.NaN, Infinity, 0.5]) expect(refused({ expiresAt })).toEqual(["expiresAt"]);
    const problems = (expiresAt: number) => findInstantProblems({ expiresAt }, 90 * dayMs, 0);
    for (const expiresAt of [minuteMs, 90 * dayMs]) expect(problems(expiresAt)).toEqual({});
    for (const expiresAt of [minuteMs - 1, 90 * dayMs + 1]) {
      expect(problems(expiresAt)).toEqual({
        expiresAt: ["must be between 1970-01-01T00:01:00.000Z and 1970-04-01T00:00:00.000Z."],
      });
    }
    expect(findInstantProblems({}, 90 * dayMs, 0)).toEqual({});
  });
});

describe("characters are code points", () => {
  const wide = "\u{1F511}";

  test.each([
    ["text", 1_048_576],
    ["qr", 1_024],
  ] as const)("the payload of a %s push has 1 to %i", (kind, max) => {
    expect(refused({ payload: "a".repeat(max) }, kind)).toEqual([]);
    expect(refused({ payload: wide.repeat(max) }, kind)).toEqual([]);
    expect(refused({ payload: "a".repeat(max + 1) }, kind)).toEqual(["payload"]);
    expect(refused({ payload: `${wide.repeat(max - 1)}ab` }, kind)).toEqual(["payload"]);
    expect(findProblems({ payload: "" }, kind, config)).toEqual({ payload: ["can't be blank."] });
    expect(findProblems({}, kind, config)).toEqual({ payload: ["can't be blank."] });
    // Blanks are characters: a secret is stored unchanged.
    expect(refused({ payload: " " }, kind)).toEqual([]);
  });

  test("a url has up to 8192", () => {
    const url = (length: number) => `https://example.com/${"a".repeat(length - 20)}`;
    expect(refused({ payload: url(8_192) }, "url")).toEqual([]);
    expect(refused({ payload: url(8_193) }, "url")).toEqual(["payload"]);
  });

  test.each([
    ["name", 2_048],
    ["note", 65_536],
    ["passphrase", 4_096],
  ] as const)("%s has up to %i", (field, max) => {
    expect(refused({ [field]: "" })).toEqual([]);
    expect(refused({ [field]: wide.repeat(max) })).toEqual([]);
    expect(refused({ [field]: wide.repeat(max + 1) })).toEqual([field]);
  });

  test("a lone surrogate is refused in every field", () => {
    for (const lone of ["\ud83d", "a\udd11", "\udd11\ud83d", "ok \ud800 ok"]) {
      const problems = findProblems({ payload: lone, name: lone, note: lone, passphrase: lone }, "text", config);
      expect(Object.keys(problems)).toEqual(["payload", "name", "note", "passphrase"]);
      for (const messages of Object.values(problems)) expect(messages).toHaveLength(1);
    }
  });
});

describe("kinds", () => {
  test.each(["file", "url", "qr"] as const)("%s pushes can be switched off", (kind) => {
    const environment = { [`PWP__ENABLE_${kind.toUpperCase()}_PUSHES`]: "false" };
    const request = { payload: "https://example.com/", upload: uploadOf(1) };
    expect(refused(request, kind)).toEqual([]);
    expect(refused(request, kind, environment)).toContain("kind");
  });

  test("the switch for file pushes also covers files of other kinds", () => {
    expect(refused({ upload: uploadOf(1) }, "text", { PWP__ENABLE_FILE_PUSHES: "false" })).toEqual(["files"]);
    expect(refused({ upload: uploadOf(1) }, "text")).toEqual([]);
  });

  test("a file push needs a file, and no text", () => {
    expect(refused({ payload: "" }, "file")).toEqual(["files"]);
    expect(refused({ payload: "", upload: uploadOf(0) }, "file")).toEqual(["files"]);
    expect(refused({ payload: "", upload: uploadOf(1) }, "file")).toEqual([]);
  });

  test("all problems are reported at once", () => {
    const request = { payload: "", expireAfterDays: 0, expireAfterViews: 0, name: "a".repeat(2_049) };
    expect(refused(request)).toEqual(["payload", "expireAfterDays", "expireAfterViews", "name"]);
  });
});

describe("web addresses", () => {
  test.each([
    "https://example.com",
    "http://example.com/",
    "HTTPS://EXAMPLE.COM/",
    "hTTp://example.com",
    "https://example.com:8443/a/b?c=d&e=%20#f",
    "https://user:password@example.com/",
    "http://[2001:db8::1]/",
    "http://192.0.2.1/",
    "http://localhost:5100/",
    "https://bücher.example/straße",
    "https://example.com/?next=javascript:alert(1)",
    "https://example.com/a b",
    "https://example.com/?path=C:\\temp",
  ])("%j is a web address", (text) => {
    expect(isWebAddress(text)).toBe(true);
  });

  test.each([
    "",
    "example.com",
    "//example.com",
    "/p/abc",
    "?a",
    "http:",
    "http:/x",
    "http:example.com",
    "https://",
    "https:///",
    "https:///example.com",
    "https://?a",
    "https://#a",
    "https://:80",
    "https://@",
    "https://exa mple.com",
    "https://example.com:99999",
    "https://[::1",
    "https://%00.example.com",
    // Browsers and other readers disagree about the host.
    "https:\\\\example.com",
    "https:/\\example.com",
    "https://\\example.com",
    "https://example.com\\@evil.example",
    "https://example.com\\.evil.example/",
    // Other schemes, plain and in disguise.
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    " javascript:alert(1)",
    "\tjavascript:alert(1)",
    "java\nscript:alert(1)",
    "java\tscript:alert(1)",
    "javascript://example.com/%0aalert(1)",
    "javascript:https://example.com",
    "data:text/html,<script>alert(1)</script>",
    "DATA:text/html;base64,PHNjcmlwdD4=",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "ftp://example.com/",
    "blob:https://example.com/1",
    "view-source:https://example.com",
    "about:blank",
    "mailto:a@example.com",
    "ws://example.com/",
    "httpx://example.com",
    "https+x://example.com",
    "xhttps://example.com",
    // Surrounding blanks, and invisible characters.
    " https://example.com",
    "https://example.com ",
    "\u00a0https://example.com",
    "\ufeffhttps://example.com",
    "https://example.com\u3000",
    "https://example.com/\u0000",
    "\u0000https://example.com",
    "https://example.com/\n",
    "ht\ntps://example.com",
    "https://example.com/\r\nSet-Cookie: a=b",
    "https://exam\tple.com",
    "https://example.com/\u007f",
    "https://example.com/\u0085",
    "https://example.com/\u2028",
    "https://example.com/\u2029",
  ])("%j is not a web address", (text) => {
    expect(isWebAddress(text)).toBe(false);
    expect(refused({ payload: text }, "url")).toEqual(["payload"]);
  });
});
