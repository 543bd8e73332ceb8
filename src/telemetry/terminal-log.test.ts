import { expect, it } from "vitest";
import { terminalLog } from "./terminal-log.ts";

function write(events: readonly Readonly<Record<string, unknown>>[], overrideBaseUrl?: string): string {
  const written: string[] = [];
  const log = terminalLog({ write: (line) => written.push(line) }, { dataDir: "data", overrideBaseUrl });
  for (const event of events) log.write(`${JSON.stringify(event)}\n`);
  return written.join("");
}

const started = { event: "server_started", host: "0.0.0.0", port: 5100, version: "3.0.0" };

it("says at the first start where the server is, what to do first, and where the data are", () => {
  const warning = { level: "warn", event: "setting_warning", msg: "No such setting." };
  const made = { event: "master_key_made", path: `${process.cwd()}/data/master.key` };
  expect(write([made, warning, { event: "boot_code_made", code: "abcde-fghij" }, started, made])).toBe(
    `${JSON.stringify(warning)}
Sealpush 3.0.0 is running: http://127.0.0.1:5100
  Open it in a browser, create a push and send the link.
  Become the administrator: http://127.0.0.1:5100/first_run, with the boot code abcde-fghij
  Data: ./data. Keep a copy of ./data/master.key: without it, no data can be opened.
  Stop with Ctrl-C.
${JSON.stringify(made)}
`,
  );
});

it("says later where to sign in, at the address of links", () => {
  expect(write([{ ...started, host: "::1" }])).toContain("running: http://[::1]:5100\n");
  expect(write([started], "https://push.example.com")).toMatch(
    /running: https:\/\/push\.example\.com\n.*\n {2}Sign in: https:\/\/push\.example\.com\/users\/sign_in\n {2}Data: \.\/data\n/,
  );
});
