import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { newDataDir, node, runProgram } from "../support/processes.ts";
import { expectIntact, makeData, refusedStart } from "../support/refused-starts.ts";
import { compiledOnce, program } from "../support/run/program.ts";
import { startServer } from "../support/server.ts";
import { runAtTerminal } from "../support/terminal.ts";

describe("a start", () => {
  it("at a terminal says in five lines where it is, what to do first and where the data are, and Ctrl-C stops it", async () => {
    const dataDir = newDataDir();
    const env = {
      PATH: process.env.PATH,
      ...compiledOnce,
      DATA_DIR: dataDir,
      PORT: "0",
      HOST: "127.0.0.1",
    };
    const stop = { to: "Ctrl-C", type: "\u0003" };
    const { exitCode, shown } = await runAtTerminal([...node, "--", program, "serve"], { env }, [stop]);
    const lines = shown.replaceAll("^C", "").split("\r\n");
    expect(lines.slice(0, 5)).toEqual([
      expect.stringMatching(/^Sealpush \d+\.\d+\.\d+ is running: http:\/\/127\.0\.0\.1:\d+$/),
      "  Open it in a browser, create a push and send the link.",
      expect.stringMatching(/^ {2}Become the administrator: http:\S+\/first_run, with the boot code \w{5}(-\w{5})+$/),
      `  Data: ${dataDir}. Keep a copy of ${dataDir}/master.key: without it, no data can be opened.`,
      "  Stop with Ctrl-C.",
    ]);
    const later = lines.slice(5).filter((line) => line !== "");
    expect(later.map((line) => JSON.parse(line).event)).toEqual(["server_stopping", "server_stopped"]);
    expect(exitCode).toBe(0);
  });

  it("with wrong settings reports every mistake at once and creates nothing", async () => {
    const dataDir = newDataDir();
    const run = await runProgram(["serve"], {
      DATA_DIR: dataDir,
      PORT: "many",
      PWP__ALLOW_ANONYMOUS: "perhaps",
      PWPUSH_MASTER_KEY: "abc",
      PWP__PW__EXPIRE_AFTER_DAYS_MAX: "0",
    });
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    for (const name of ["PORT", "PWP__ALLOW_ANONYMOUS", "PWPUSH_MASTER_KEY", "PWP__PW__EXPIRE_AFTER_DAYS_MAX"]) {
      expect(run.stderr).toMatch(new RegExp(`^${name}:? .*\\.$`, "m"));
    }
    expect(existsSync(dataDir)).toBe(false);
  });

  it("configured for several processes is one, and says how to run more", async () => {
    const server = await startServer({ dataDir: newDataDir(), environment: { WEB_CONCURRENCY: "4" } });
    const lines = server.logLines.filter((line) => line.includes("WEB_CONCURRENCY"));
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      {
        event: "setting_warning",
        msg: expect.stringMatching(
          /^WEB_CONCURRENCY is not used here, because one process is one service; .*scaling\.md/,
        ),
      },
    ]);
    expect(server.logLines.filter((line) => line.includes('"server_started"'))).toHaveLength(1);
  });

  it("on a port in use is refused", async () => {
    const { dataDir, push } = await makeData();
    const taken = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => {
      taken.close();
    });
    await new Promise((resolve) => taken.once("listening", resolve));
    const address = taken.address();
    if (address === null || typeof address === "string") throw new Error("The port is not known.");
    expect(await refusedStart({ dataDir, environment: { PORT: String(address.port) } })).toBe(
      `The server cannot listen on 127.0.0.1 port ${address.port} (another process already listens there): check HOST and PORT.\n`,
    );
    await expectIntact(dataDir, push);
  });

  it("where the data folder cannot be created is refused", async () => {
    const file = newDataDir();
    writeFileSync(file, "");
    expect(await refusedStart({ dataDir: file })).toBe(`${file} is not a folder: check DATA_DIR.\n`);
    expect(await refusedStart({ dataDir: join(file, "data") })).toContain(
      "cannot be created (not a folder): check DATA_DIR.",
    );
  });

  it.runIf(process.platform === "linux")("on a file system that allows no new folder is refused at once", async () => {
    expect(await refusedStart({ dataDir: "/proc/sealpush" })).toContain(
      "cannot be created (no such file or folder): check DATA_DIR.",
    );
  });
});
