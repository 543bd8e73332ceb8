import { execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeEntryPoint } from "../support/container.ts";
import { makeFolder } from "../support/folders.ts";
import { freePort } from "../support/free-port.ts";
import { type AcmeServer, pebbleProgram, startAcmeServer } from "../support/pebble.ts";
import { newDataDir, runToItsEnd } from "../support/processes.ts";
import { startServerByCommand } from "../support/server.ts";

const domain = "push.test";
const masterKey = "c3".repeat(32);

async function startWithTls(acme: AcmeServer, dataDir: string) {
  const { command, health } = makeEntryPoint();
  const environment = {
    TLS_DOMAIN: `${domain},www.${domain}`,
    ACME_DIRECTORY: acme.directory,
    EAB_KID: acme.binding.kid,
    EAB_HMAC_KEY: acme.binding.key,
    SSL_CERT_FILE: acme.rootCertificateFile,
    HTTP_PORT: String(acme.httpPort),
    HTTPS_PORT: String(acme.httpsPort),
    PORT: String(await freePort()),
    PWPUSH_MASTER_KEY: masterKey,
  };
  const server = await startServerByCommand(command, { dataDir, environment });
  /** @returns the exit code of the image's health check, and what it prints. */
  const checkHealth = async () => {
    const { PATH } = process.env;
    return await runToItsEnd(spawn("bash", [health], { env: { PATH, ...environment } }));
  };
  return { server, checkHealth };
}

/** Resolves when somebody listens. */
function untilConnected(port: number): Promise<void> {
  const attempt = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      onTestFinished(() => void socket.destroy());
    });
  return expect.poll(attempt).toBe(true);
}

/** A request by HTTPS, with the issuer of the server's certificate. Rejects while there is no certificate yet. */
function send(method: string, path: string, port: number, body = ""): Promise<{ issuer: string; body: string }> {
  const headers = { host: `${domain}:${port}`, "content-type": "application/json" };
  const options = { host: "127.0.0.1", port, method, path, headers, servername: domain, rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    const sent = request(options, (answer) => {
      const issuer = String((answer.socket as TLSSocket).getPeerCertificate().issuer.CN);
      let text = "";
      answer.on("data", (chunk) => {
        text += String(chunk);
      });
      answer.on("end", () => resolve({ issuer, body: text }));
    });
    sent.on("error", reject).end(body);
  });
}

/** Children of this process that run Caddy. */
function caddyOf(parent: number): readonly number[] {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, "latin1").trim().split(" ").map(Number);
  return children.filter((pid) => readFileSync(`/proc/${pid}/comm`, "latin1").trim() === "caddy");
}

describe.runIf(pebbleProgram !== undefined)("TLS_DOMAIN in the image", () => {
  it("puts Caddy in front, with certificates of the ACME server that the settings name", async () => {
    const acme = await startAcmeServer(pebbleProgram ?? "");
    const dataDir = newDataDir();
    const { server, checkHealth } = await startWithTls(acme, dataDir);
    const issuer = async () => (await send("GET", "/up", acme.httpsPort)).issuer;
    await expect.poll(() => issuer().catch((error: unknown) => String(error))).toMatch(/^Pebble /);

    await expect.poll(async () => (await checkHealth()).exitCode).toBe(0);

    const made = await send("POST", "/p.json", acme.httpsPort, '{"password":{"payload":"secret"}}');
    expect(JSON.parse(made.body).html_url).toMatch(`https://${domain}:${acme.httpsPort}/p/`);
    const [caddy = 0] = caddyOf(server.pid);
    expect(readFileSync(`/proc/${caddy}/environ`, "latin1")).not.toContain(masterKey);
    expect(server.logLines.join("\n")).not.toContain("TLS_DOMAIN");

    const keys = join(dataDir, "caddy/certificates");
    expect(statSync(join(dataDir, "caddy")).mode & 0o077).toBe(0);
    const keyFiles = readdirSync(keys, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".key"));
    expect(keyFiles.length).toBeGreaterThan(0);
    const backup = join(makeFolder(), "backup");
    const [node, ...argv] = [process.execPath, "dist/main.js", "backup", "--to", backup];
    execFileSync(node ?? "", argv, { env: { DATA_DIR: dataDir, PWPUSH_MASTER_KEY: masterKey } });
    expect(readdirSync(backup, { recursive: true, encoding: "utf8" }).join()).not.toContain("caddy");

    expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
    expect(() => process.kill(caddy, 0)).toThrow("ESRCH");
  });

  it("is unhealthy without a certificate, although the server answers", async () => {
    const acme = {
      ...(await startAcmeServer(pebbleProgram ?? "")),
      directory: `https://127.0.0.1:${await freePort()}/dir`,
    };
    const { server, checkHealth } = await startWithTls(acme, newDataDir());
    await untilConnected(acme.httpsPort);
    expect((await fetch(`${server.baseUrl}/up`)).status).toBe(200);
    const { exitCode, stderr } = await checkHealth();
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(/alert|TLS|SSL/i);
    expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
  });

  it("stops the server if Caddy ends, so that the container is restarted", async () => {
    const { server } = await startWithTls(await startAcmeServer(pebbleProgram ?? ""), newDataDir());
    await expect.poll(() => caddyOf(server.pid)).toHaveLength(1);
    for (const caddy of caddyOf(server.pid)) process.kill(caddy, "SIGKILL");
    expect(await server.ended).toEqual({ exitCode: 1, signal: null });
    expect(server.logLines.join("\n")).toContain("Caddy has ended, so the server stops.");
  });
});
