import { expect, test } from "vitest";
import { ownedPush } from "../../../test/support/push-row.ts";
import type { TrailEvent, WholeTrail } from "../../pushes/pushes.ts";
import { csvField, trailAsCsv, trailAsJson } from "./export.ts";

const made = Date.UTC(2026, 0, 15, 12);

const push = ownedPush({
  viewsRemaining: 0,
  expired: true,
  expiredOn: made + 2_000,
  expiresAt: made + 1_000_000,
  createdAt: made,
  updatedAt: made + 2_000,
  name: 'VPN "office"',
  views: 5,
  endReason: "views",
});

function trailOf(...events: TrailEvent[]): WholeTrail {
  return {
    push,
    events: (async function* () {
      yield* events;
    })(),
  };
}

function viewBy(userAgent: string, referrer = ""): TrailEvent {
  const times = { createdAt: made, updatedAt: made + 1_000, times: 2 };
  return { kind: "view", by: "holder", userId: 7, address: "192.0.2.1", userAgent, referrer, ...times };
}

const end: TrailEvent = { kind: "limit", reason: "views", createdAt: made + 2_000, updatedAt: made + 2_000 };

const emailOf = async (userId: number) => (userId === 7 ? "rob@example.com" : "");

async function written(parts: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const part of parts) text += part;
  return text;
}

test("CSV follows RFC 4180, with a byte order mark by which spreadsheets recognise UTF-8", async () => {
  expect(await written(trailAsCsv(trailOf(viewBy('a "b", ü', "https://example.com"), end), emailOf))).toBe(
    "\uFEFFcreated_at,updated_at,kind,by,email,ip,user_agent,referrer,times,notify_by_email_recipients,notify_by_email_status,notify_by_email_successful_sends\r\n" +
      '"2026-01-15T12:00:00.000Z","2026-01-15T12:00:01.000Z","view","holder","rob@example.com","192.0.2.1","a ""b"", ü","https://example.com","2","","",""\r\n' +
      '"2026-01-15T12:00:02.000Z","2026-01-15T12:00:02.000Z","ended_by_views","server","","","","","1","","",""\r\n',
  );
});

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", '=HYPERLINK("https://evil.example")'])(
  "a user agent that a spreadsheet would execute as a formula is text: %j",
  async (formula) => {
    expect(csvField(formula).startsWith(`"'`)).toBe(true);
    expect(await written(trailAsCsv(trailOf(viewBy(formula)), emailOf))).toContain(csvField(formula));
  },
);

/** The cells in a spreadsheet that splits lines at `separator` and treats quotes as text. */
const cellsSplitAt = (separator: string, line: string) =>
  line.split(separator).map((cell) => cell.replace(/^[\s"]+/, ""));

test.each([",", ";", "\t", "|", "\n", "\r", "\u2028"])(
  "a formula after %j is text, because that separates cells in some locale",
  (separator) => {
    for (const formula of ["=1+1", "+1", "-1", "@SUM(A1)", "＝1", '"=1', ' "=1']) {
      const field = csvField(`Mozilla/5.0${separator}${formula}${separator}end`);
      expect(
        cellsSplitAt(separator, field).filter((cell) => /^[=+\-@＝]/.test(cell)),
        field,
      ).toEqual([]);
    }
    expect(csvField(`Mozilla${separator} X11`)).toBe(`"Mozilla${separator} X11"`);
  },
);

test("JSON has the same events and the name of the push, but no working link", async () => {
  const text = await written(trailAsJson(trailOf(viewBy("agent"), end), emailOf));
  expect(JSON.parse(text)).toEqual({
    push: {
      name: 'VPN "office"',
      note: null,
      kind: "text",
      created_at: "2026-01-15T12:00:00.000Z",
      expires_at: "2026-01-15T12:16:40.000Z",
      expired: true,
      expired_on: "2026-01-15T12:00:02.000Z",
      views: 5,
      expire_after_views: 5,
    },
    logs: [
      {
        kind: "view",
        by: "holder",
        email: "rob@example.com",
        ip: "192.0.2.1",
        user_agent: "agent",
        referrer: "",
        times: 2,
        created_at: "2026-01-15T12:00:00.000Z",
        updated_at: "2026-01-15T12:00:01.000Z",
      },
      {
        kind: "ended_by_views",
        by: "server",
        email: "",
        ip: "",
        user_agent: "",
        referrer: "",
        times: 1,
        created_at: "2026-01-15T12:00:02.000Z",
        updated_at: "2026-01-15T12:00:02.000Z",
      },
    ],
  });
  expect(text).not.toContain(push.urlToken);
  expect(JSON.parse(await written(trailAsJson(trailOf(), emailOf)))).toMatchObject({ logs: [] });
});
