import { describe, expect, it } from "vitest";
import { makeTestCli } from "../../test/support/cli.ts";
import { startMailSink } from "../../test/support/mail-sink.ts";

const test = ["mail", "test", "--to"];

describe("mail test", () => {
  it("sends one email at once and prints the server's answer", async () => {
    const sink = await startMailSink({ signIn: { userName: "push", password: "a mail password" } });
    const run = await makeTestCli().run([...test, "Ada@Example.com"], { environment: sink.environment });
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    expect(run.stdout).toMatch(/^The mail server accepted it: 250 .*\n$/);
    const [mail, ...more] = sink.messages();
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ recipients: ["ada@example.com"], signedInAs: "push" });
    expect(mail?.subject).toBe("Sealpush: Test email (push.example.com)");
  });

  it("fails with the server's reason, without the address in it", async () => {
    const sink = await startMailSink();
    sink.refuseNext(1, { at: "recipient", code: 550, text: "5.1.1 <ada@example.com> unknown" });
    const run = await makeTestCli().run([...test, "ada@example.com"], { environment: sink.environment });
    expect(run).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "The mail server refused the recipient (550 5.1.1 ... unknown).\n",
    });
  });

  it("reports an unreachable server, a wrong password, missing mail settings and an invalid address", async () => {
    const sink = await startMailSink({ signIn: { userName: "push", password: "right" } });
    const cli = makeTestCli();
    const said = async (to: string, environment: Record<string, string>) => {
      const run = await cli.run([...test, to], { environment });
      expect(run).toMatchObject({ exitCode: 1, stdout: "" });
      return run.stderr;
    };
    const wrong = { ...sink.environment, PWP__MAIL__SMTP_PASSWORD: "wrong-password" };
    const refusal = await said("ada@example.com", wrong);
    expect(refusal).toMatch(/^The mail server refused the sign-in \(535/);
    expect(refusal).not.toContain("wrong-password");
    expect(await said("ada@example.com", {})).toContain("Mail is off: set PWP__MAIL__SMTP_ADDRESS");
    expect(await said("ada@example.com\r\nbcc: b@example.com", sink.environment)).toContain("not an email address");
    await sink.stop();
    expect(await said("ada@example.com", sink.environment)).toContain("cannot be reached (connection refused)");
  });
});
