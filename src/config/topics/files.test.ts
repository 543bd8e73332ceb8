import { describe, expect, it } from "vitest";
import { filesWith, loadValid, mistakesOf } from "../../../test/support/settings.ts";
import { describeSettings } from "../describe-settings.ts";

const secret = "wJalrXUtnFEMI/K7MDENG+secret";
const complete = {
  PWP__FILES__STORAGE: "s3",
  PWP__FILES__S3__ENDPOINT: "https://s3.example.com/",
  PWP__FILES__S3__BUCKET: "sealed-files",
  PWP__FILES__S3__ACCESS_KEY_ID: "AKIAEXAMPLE",
  PWP__FILES__S3__SECRET_ACCESS_KEY: secret,
};

describe("where files are stored", () => {
  it("is this machine by default", () => {
    expect(loadValid({}).config.files.s3).toBeUndefined();
    expect(loadValid({ PWP__FILES__STORAGE: "local" }).config.files.s3).toBeUndefined();
  });

  it("is a bucket, in the default region and with the bucket in the path", () => {
    const { config, warnings, origins } = loadValid(complete);
    expect(config.files.s3).toEqual({
      endpoint: "https://s3.example.com",
      bucket: "sealed-files",
      region: "us-east-1",
      accessKeyId: "AKIAEXAMPLE",
      secretAccessKey: secret,
      pathStyle: true,
    });
    expect(warnings).toEqual([]);
    const shown = describeSettings(origins).join("\n");
    expect(shown).toContain("PWP__FILES__S3__SECRET_ACCESS_KEY = (hidden) (environment)");
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain("AKIAEXAMPLE");
  });

  it("reads the keys from files too", () => {
    const { PWP__FILES__S3__SECRET_ACCESS_KEY: _, ...others } = complete;
    const environment = { ...others, PWP__FILES__S3__SECRET_ACCESS_KEY_FILE: "/run/secrets/s3" };
    expect(loadValid(environment, filesWith(`${secret}\n`)).config.files.s3?.secretAccessKey).toBe(secret);
  });

  it("stops the start with one sentence that names all missing settings, and never falls back to the disk", () => {
    expect(mistakesOf({ PWP__FILES__STORAGE: "s3" })).toEqual([
      "PWP__FILES__STORAGE is s3, so PWP__FILES__S3__ENDPOINT, PWP__FILES__S3__BUCKET, PWP__FILES__S3__ACCESS_KEY_ID and PWP__FILES__S3__SECRET_ACCESS_KEY must be given too.",
    ]);
    const { PWP__FILES__S3__BUCKET: _, ...others } = complete;
    expect(mistakesOf(others)).toEqual(["PWP__FILES__STORAGE is s3, so PWP__FILES__S3__BUCKET must be given too."]);
  });

  it.each([
    ["PWP__FILES__S3__ENDPOINT", "s3.example.com"],
    ["PWP__FILES__S3__ENDPOINT", "ftp://s3.example.com"],
    ["PWP__FILES__S3__ENDPOINT", "https://name:word@s3.example.com"],
    ["PWP__FILES__S3__ENDPOINT", "https://s3.example.com/?a=b"],
    ["PWP__FILES__S3__BUCKET", "a/b"],
    ["PWP__FILES__S3__BUCKET", ".."],
    ["PWP__FILES__S3__REGION", "a b"],
    ["PWP__FILES__S3__SECRET_ACCESS_KEY", "a b"],
    ["PWP__FILES__STORAGE", "azure"],
  ])("refuses %s=%s", (name, value) => {
    const mistakes = mistakesOf({ ...complete, [name]: value });
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toMatch(new RegExp(`^${name} `));
    if (name.includes("SECRET")) expect(mistakes[0]).not.toContain(value);
    expect(mistakes[0]).not.toContain("name:word");
  });

  it("warns about an unencrypted connection to another machine, and about settings without effect", () => {
    const endpoint = (PWP__FILES__S3__ENDPOINT: string) =>
      loadValid({ ...complete, PWP__FILES__S3__ENDPOINT }).warnings;
    expect(endpoint("http://store.internal:9000")).toEqual([expect.stringContaining("is http to another machine")]);
    for (const local of ["http://127.0.0.1:9000", "http://localhost:9000", "http://[::1]:9000"]) {
      expect(endpoint(local)).toEqual([]);
    }
    expect(loadValid({ PWP__FILES__S3__BUCKET: "sealed-files" }).warnings).toEqual([
      "PWP__FILES__S3__BUCKET has no effect while PWP__FILES__STORAGE is local.",
    ]);
  });
});

describe("the most files in a push", () => {
  it.each([
    ["1", 1, []],
    ["500", 500, []],
    ["2000", 500, ["PWP__FILES__MAX_FILE_UPLOADS is 2000, but a push has at most 500 files here."]],
  ])("%s", (given, max, warned) => {
    const { config, warnings } = loadValid({ PWP__FILES__MAX_FILE_UPLOADS: given });
    expect([config.files.maxFileUploads, warnings]).toEqual([max, warned]);
  });

  it.each(["0", "-1", "many"])("is not %s", (given) => {
    expect(mistakesOf({ PWP__FILES__MAX_FILE_UPLOADS: given })).toHaveLength(1);
  });
});
