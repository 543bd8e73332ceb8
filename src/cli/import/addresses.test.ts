import { describe, expect, it } from "vitest";
import { parseSourceAddress } from "./database-address.ts";
import { storageLocationsOf } from "./storage-locations.ts";

const secret = "s3cret-word";

describe("the address of the source's database", () => {
  it.each([
    ["sqlite:storage/db/production.sqlite3", { engine: "sqlite", path: "storage/db/production.sqlite3" }],
    ["sqlite3:/opt/x.sqlite3?pool=5", { engine: "sqlite", path: "/opt/x.sqlite3" }],
    ["sqlite3:///opt/x.sqlite3", { engine: "sqlite", path: "/opt/x.sqlite3" }],
    [
      "postgresql://pw:p%40ss@db/pwpush?pool=5&encoding=unicode&sslmode=verify-full&connect_timeout=2",
      {
        engine: "postgres",
        host: "db",
        port: 5432,
        user: "pw",
        password: "p@ss",
        database: "pwpush",
        tls: { mode: "verify-full" },
      },
    ],
    [
      "mysql2://pw:p%2Fss@[::1]:3307/pwpush?reconnect=true&ssl_mode=verify_identity&sslca=/ca.pem",
      {
        engine: "mysql",
        host: "::1",
        port: 3307,
        user: "pw",
        password: "p/ss",
        database: "pwpush",
        tls: { mode: "verify_identity", rootCertificateFile: "/ca.pem" },
      },
    ],
    [
      "mysql://pw@localhost/pwpush?socket=/run/mysqld.sock",
      { engine: "mysql", socketPath: "/run/mysqld.sock", password: "" },
    ],
  ])("reads %s as the source does", (text, address) => {
    expect(parseSourceAddress(text)).toMatchObject(address);
  });

  it.each([
    ["oracle://x", "it must be sqlite:PATH"],
    ["production.sqlite3", "it must be sqlite:PATH"],
    ["sqlite:", "it names no file"],
    [`mysql2://:${secret}@db/pwpush`, "it names no user"],
    [`mysql2://pw:${secret}@db`, "it names no database"],
    [`mysql2://pw:${secret}%@db/pwpush`, "a percent sign in it"],
    [`mysql2://pw:${secret}@db/pwpush?ssl_mode=preferred`, "its ssl_mode must be one of disabled, required"],
    [`postgres://pw:${secret}@db/`, "it names no database"],
    [`postgres://pw:${secret}@db/x?sslmode=always`, "its sslmode must be one of"],
  ])("refuses %s with a reason that does not repeat it", (text, reason) => {
    expect(() => parseSourceAddress(text)).toThrow(`--database cannot be used: ${reason}`);
    expect(() => parseSourceAddress(text)).not.toThrow(secret);
  });
});

describe("the locations of the source's files", () => {
  const keys = { PWP__FILES__S3__ACCESS_KEY_ID: "AKIA", PWP__FILES__S3__SECRET_ACCESS_KEY: secret };

  it("include the bucket of the env file, with the source's defaults", () => {
    const { folder, buckets } = storageLocationsOf(["/srv/storage"], {
      ...keys,
      PWP__FILES__S3__REGION: "eu-central-1",
    });

    expect(folder).toBe("/srv/storage");
    expect([...buckets]).toEqual([
      [
        "",
        {
          endpoint: "https://s3.eu-central-1.amazonaws.com",
          bucket: "pwpush-files",
          region: "eu-central-1",
          pathStyle: true,
          accessKeyId: "AKIA",
          secretAccessKey: secret,
        },
      ],
    ]);
  });

  it("can be several, each for its service", () => {
    const { folder, buckets } = storageLocationsOf(
      ["s3://one?endpoint=https://minio.example.com&service=minio", "s3://two?path_style=false", "/srv/storage"],
      keys,
    );

    expect(folder).toBe("/srv/storage");
    expect(buckets.get("minio")).toMatchObject({
      bucket: "one",
      endpoint: "https://minio.example.com",
      pathStyle: true,
    });
    expect(buckets.get("")).toMatchObject({ bucket: "two", pathStyle: false });
  });

  it("need no complete key pair if files are in a folder", () => {
    expect(storageLocationsOf(["/srv"], { PWP__FILES__S3__ACCESS_KEY_ID: "AKIA" }).buckets.size).toBe(0);
  });

  it.each([
    [["s3://bucket"], {}, "need PWP__FILES__S3__ACCESS_KEY_ID and PWP__FILES__S3__SECRET_ACCESS_KEY in the env file"],
    [["s3://AKIA:word@bucket"], keys, "with its keys in the env file"],
    [["s3://bucket/prefix"], keys, "--storage must be a folder or s3://BUCKET"],
    [["s3://bucket?secret=1"], keys, "takes the parameters endpoint, region, path_style, service and no other"],
    [["s3://bucket?endpoint=ftp://x"], keys, "The endpoint of --storage must be"],
    [["s3://bucket"], { ...keys, PWP__FILES__S3__REGION: "a b" }, /^PWP__FILES__S3__REGION must be/],
    [["/one", "/two"], keys, "--storage names two folders"],
  ])("refuses %j", (storage, environment, reason) => {
    expect(() => storageLocationsOf(storage, environment)).toThrow(reason);
  });
});
