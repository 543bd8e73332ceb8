import { describe, expect, it } from "vitest";
import { databaseUrl } from "./database-url.ts";
import { hostNames, listenAddress, networks, webOrigin } from "./network-types.ts";
import { mailbox } from "./topics/mail.ts";
import { issuerUrl } from "./topics/single-sign-on.ts";
import {
  boolean,
  byteSize,
  duration,
  rubyRegularExpression,
  type ValueType,
  wholeNumber,
  wordOr,
} from "./value-types.ts";

function values<T>(type: ValueType<T>, texts: readonly string[]): (T | "rejected")[] {
  return texts.map((text) => {
    const parsed = type.parse(text);
    return parsed.ok ? parsed.value : "rejected";
  });
}

describe("a boolean", () => {
  it("is true or false, in lower case", () => {
    expect(values(boolean, ["true", "false"])).toEqual([true, false]);
    for (const text of ["TRUE", "False", "yes", "no", "on", "off", "1", "0", "ture", "truefalse", "constructor"]) {
      expect(boolean.parse(text).ok, text).toBe(false);
    }
  });
});

describe("a whole number", () => {
  it("is within its bounds", () => {
    expect(values(wholeNumber(1, 90), ["1", "90", "007", "0", "91"])).toEqual([1, 90, 7, "rejected", "rejected"]);
  });

  it("consists of digits only", () => {
    for (const text of ["-1", "+1", "1.0", "1e1", "0x1", "NaN", "Infinity", "1 0", "９", "9".repeat(400)]) {
      expect(wholeNumber(0, 90).parse(text).ok, text).toBe(false);
    }
  });
});

describe("a size in bytes", () => {
  const size = byteSize({ min: 1, max: 1024 ** 4, allowed: "" });

  it("accepts plain numbers, decimal units and binary units", () => {
    expect(values(size, ["1073741824", "512MB", "1GiB", "1 gib", "7 b", "3kB", "1TiB"])).toEqual([
      1073741824,
      512_000_000,
      1024 ** 3,
      1024 ** 3,
      7,
      3000,
      1024 ** 4,
    ]);
  });

  it("rejects what is out of bounds or ambiguous", () => {
    for (const text of ["0", "2TiB", "512M", "1.5GB", "-1", "GB", "1 PB", "1GBs"]) {
      expect(size.parse(text).ok, text).toBe(false);
    }
  });
});

describe("a duration", () => {
  const bounds = { minMs: 60_000, maxMs: 36_500 * 86_400_000, allowed: "" };

  it("is a count and a unit", () => {
    const type = duration({ ...bounds, plainNumber: "rejected" });
    expect(values(type, ["3 months", "30 days", "1 year", "2 Hours", "90seconds", "2.weeks"])).toEqual([
      90 * 86_400_000,
      30 * 86_400_000,
      365 * 86_400_000,
      7_200_000,
      90_000,
      14 * 86_400_000,
    ]);
    for (const text of ["3", "0 days", "59 seconds", "101 years", "-3 days", "3 moons", "3 constructors", "months"]) {
      expect(type.parse(text).ok, text).toBe(false);
    }
  });

  it("may be a plain number of seconds", () => {
    expect(values(duration({ ...bounds, plainNumber: "seconds" }), ["7200", "59"])).toEqual([7_200_000, "rejected"]);
  });
});

describe("trusted networks", () => {
  const type = wordOr("none", [], networks);

  it("are addresses and networks of both families, or none", () => {
    expect(values(type, ["10.0.0.0/8, 192.168.1.1  fd00::/8,::1"])).toEqual([
      ["10.0.0.0/8", "192.168.1.1", "fd00::/8", "::1"],
    ]);
    expect(values(type, ["none", "NONE"])).toEqual([[], []]);
  });

  it("have no loose spellings, which would trust another network than the operator expects", () => {
    for (const text of [
      "10",
      "10.1",
      "0x7f.0.0.1",
      "10.0.0.0/33",
      "::/129",
      "10.0.0.0/",
      "/8",
      "proxy.local",
      "fe80::1%eth0",
      "1.2.3.4:80",
      ",",
      "10.0.0.0/255.0.0.0",
    ]) {
      expect(type.parse(text).ok, text).toBe(false);
    }
  });

  it("are limited in number", () => {
    expect(type.parse("10.0.0.1,".repeat(200)).ok).toBe(true);
    expect(type.parse("10.0.0.1,".repeat(201)).ok).toBe(false);
  });
});

describe("host names", () => {
  it("are normalised to the form of a Host header", () => {
    expect(values(hostNames, ["Push.Example.com .example.org,localhost  bücher.example ::1 [::1] 10.0.0.7"])).toEqual([
      ["push.example.com", ".example.org", "localhost", "xn--bcher-kva.example", "[::1]", "[::1]", "10.0.0.7"],
    ]);
  });

  it("are names only", () => {
    for (const text of [
      "https://a.example",
      "a.example:5100",
      "a.example/",
      "*.example.com",
      "a..b",
      ".",
      "a b.c!",
      ".10.0.0.1",
      "0x7f.1",
      "300.1.1.1",
      "fe80::1%1",
      "[a.example]",
    ]) {
      expect(hostNames.parse(text).ok, text).toBe(false);
    }
  });

  it("can be an address to listen on, which has no brackets", () => {
    expect(values(listenAddress, ["0.0.0.0", "::", "[::1]", "localhost", "127.0.0.1:80"])).toEqual([
      "0.0.0.0",
      "::",
      "::1",
      "localhost",
      "rejected",
    ]);
  });
});

describe("a base URL", () => {
  it("is an origin", () => {
    expect(
      values(webOrigin, ["https://Push.Example.com", "http://push.example.com:5100/", "https://a.example:443"]),
    ).toEqual(["https://push.example.com", "http://push.example.com:5100", "https://a.example"]);
  });

  it("has no path, query or credentials", () => {
    for (const text of [
      "push.example.com",
      "ftp://a.example",
      "javascript://a.example",
      "https://a.example/app",
      "https://a.example/?x",
      "https://a.example/#x",
      "https://u:p@a.example",
      "https://",
      "https:a.example",
      "https:\\\\a.example",
      "https://a.exam\tple",
    ]) {
      expect(webOrigin.parse(text).ok, text).toBe(false);
    }
  });
});

describe("a database address", () => {
  it("is a SQLite file", () => {
    expect(
      values(databaseUrl, [
        "sqlite:",
        "sqlite:push.db",
        "sqlite:/srv/a b.db",
        "sqlite:///srv/p.db",
        "SQLITE3:db/p.db",
        "sqlite3:///p%20.db",
      ]),
    ).toEqual(
      ["", "push.db", "/srv/a b.db", "/srv/p.db", "db/p.db", "/p%20.db"].map((path) => ({ engine: "sqlite", path })),
    );
  });

  it("is a PostgreSQL server, with percent-decoded parts", () => {
    const tls = { mode: "prefer", rootCertificateFile: undefined };
    const plain = { engine: "postgres", port: 5432, otherHosts: [], tls, pool: undefined, ignoredParameters: [] };
    expect(
      values(databaseUrl, [
        "postgres://push:p%40ss%2F@db.example.com/push",
        "postgresql://push@[2001:db8::1]:6432/push?sslmode=verify-full&sslrootcert=/etc/ca.pem",
        "postgres://push@localhost/push?host=%2Fvar%2Frun%2Fpostgresql",
        "postgres://push:p%40,s@db1,db2:6432,[::1]/push?target_session_attrs=read-write",
      ]),
    ).toEqual([
      { ...plain, host: "db.example.com", user: "push", password: "p@ss/", database: "push" },
      {
        ...plain,
        host: "2001:db8::1",
        port: 6432,
        user: "push",
        password: "",
        database: "push",
        tls: { mode: "verify-full", rootCertificateFile: "/etc/ca.pem" },
      },
      {
        ...plain,
        host: "/var/run/postgresql",
        user: "push",
        password: "",
        database: "push",
        tls: { ...tls, mode: "disable" },
      },
      {
        ...plain,
        host: "db1",
        otherHosts: [
          { host: "db2", port: 6432 },
          { host: "::1", port: 5432 },
        ],
        user: "push",
        password: "p@,s",
        database: "push",
      },
    ]);
  });

  it("needs user, host and database for PostgreSQL, and has only known parameters", () => {
    const reasons = [
      "postgres://h/d",
      "postgres://u:p@h",
      "postgres://u:p@h/",
      "postgres://u:p@h/d/e",
      "postgres://u:p@h/d?pool=0",
      "postgres://u:p@h/d?pool=many",
      "postgres://u:p@h/d?encoding=latin1",
      "postgres://u:p@h/d?sslmode=no-verify",
      "postgres://u:p@h/d?schema_search_path=private",
      "postgres://u:p@h,h2/d?host=h3",
      "postgres://u:p@h,h2/d?target_session_attrs=any",
      `postgres://u:p@${Array(9).fill("h").join()}/d`,
    ].map((text) => databaseUrl.parse(text));
    for (const parsed of reasons) expect(parsed).toEqual({ ok: false, reason: expect.any(String) });
    expect(values(databaseUrl, ["postgres://u:%zz@h/d", "postgres://u:p@h:99999/d", "postgres://u:p@h,/d"])).toEqual(
      Array(3).fill("rejected"),
    );
  });

  it("asks another machine for TLS first, as libpq does, and takes the parameters of Rails", () => {
    const parsed = (url: string) => values(databaseUrl, [url])[0];
    const mode = (url: string) => {
      const address = parsed(url);
      return typeof address === "object" && address.engine === "postgres" ? address.tls.mode : address;
    };
    expect(mode("postgres://u@db/d")).toBe("prefer");
    expect(mode("postgres://u@localhost,db/d")).toBe("prefer");
    for (const local of ["localhost", "127.0.0.1", "[::1]"]) {
      expect(mode(`postgres://u@${local}/d`), local).toBe("disable");
    }
    expect(mode("postgres://u@db/d?host=/run/postgresql")).toBe("disable");
    for (const given of ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]) {
      expect(mode(`postgres://u@db/d?sslmode=${given}`)).toBe(given);
    }
    expect(mode("postgres://u@db/d?sslmode=require&sslrootcert=/etc/ca.pem")).toBe("verify-ca");
    expect(parsed("postgres://u@db/d?pool=25&encoding=unicode&checkout_timeout=5")).toMatchObject({
      pool: 25,
      ignoredParameters: ["checkout_timeout"],
    });
    const harmless = "reconnect=true&gssencmode=prefer&channel_binding=disable&schema_search_path=public";
    expect(parsed(`postgres://u@db/d?${harmless}`)).toMatchObject({
      ignoredParameters: ["reconnect", "gssencmode", "channel_binding", "schema_search_path"],
    });
    for (const [name, value, reason] of [
      ["gssencmode", "require", "its gssencmode must be disable or prefer, or left out"],
      ["channel_binding", "require", "its channel_binding must be disable or prefer, or left out"],
      ["schema_search_path", "app,public", "its schema_search_path must be public, or left out"],
    ]) {
      expect(databaseUrl.parse(`postgres://u@db/d?${name}=${value}`)).toEqual({ ok: false, reason });
    }
  });

  it("is not another server, a memory database or a folder", () => {
    const reasons = ["mysql2://h/d", "sqlite://host/p.db", "sqlite::memory:", "sqlite:/srv/", "sqlite:p.db?pool=5"].map(
      (text) => databaseUrl.parse(text),
    );
    for (const parsed of reasons) expect(parsed).toEqual({ ok: false, reason: expect.any(String) });
    expect(values(databaseUrl, ["/srv/p.db", "file:p.db", "sqlite:a\u0000b", "sqlite"])).toEqual(
      Array(4).fill("rejected"),
    );
  });
});

describe("an issuer", () => {
  it("is https, or on this machine", () => {
    const good = [
      "https://id.example.com",
      "https://id.example.com/realms/it",
      "http://localhost:9000",
      "http://127.0.0.1",
    ];
    expect(values(issuerUrl, good)).toEqual(good);
    for (const text of [
      "http://id.example.com",
      "https://u:p@id.example.com",
      "https://id.example.com?a",
      "id.example.com",
    ]) {
      expect(issuerUrl.parse(text).ok, text).toBe(false);
    }
  });
});

describe("a sender", () => {
  it("is one mailbox, with or without a name", () => {
    const good = ["push@example.com", "Sealpush at Example <push@example.com>"];
    expect(values(mailbox, good)).toEqual(good);
  });

  it("contains no second address and no second header", () => {
    for (const text of [
      "push",
      "a@example.com, b@example.com",
      "a@example.com\r\nBcc: b@example.com",
      "A\nB <a@example.com>",
    ]) {
      expect(mailbox.parse(text).ok, text).toBe(false);
    }
  });
});

describe("a regular expression", () => {
  it("has the meaning that it has in Ruby", () => {
    const parsed = rubyRegularExpression.parse("\\A[^@\\s]+\\@(example\\.com)\\z");
    expect(parsed.ok && parsed.value.test("ada@example.com")).toBe(true);
    expect(parsed.ok && parsed.value.test("ada@example.com.evil")).toBe(false);
  });

  it("is rejected if it is invalid", () => {
    for (const text of ["(", "[a", "a".repeat(1_001)]) expect(rubyRegularExpression.parse(text).ok).toBe(false);
  });
});
