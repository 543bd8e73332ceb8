import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { makeCertificate } from "./certificate.ts";
import { makeFolder } from "./folders.ts";
import { freePort } from "./free-port.ts";

/** Debian's ACME server for tests, with its DNS server in the same folder. undefined: not part of this run. */
export const pebbleProgram = process.env.SEALPUSH_TEST_PEBBLE;

const binding = { kid: "kid-1", key: "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W" };

/** What a client of the ACME server is given. */
export interface AcmeServer {
  readonly directory: string;
  readonly binding: typeof binding;
  /** Clients must trust it to reach the directory. */
  readonly rootCertificateFile: string;
  /** Where it connects to in order to verify a domain. */
  readonly httpPort: number;
  readonly httpsPort: number;
}

/** An ACME server on loopback that asks for an external account, and for which every domain has the address 127.0.0.1. */
export async function startAcmeServer(program: string): Promise<AcmeServer> {
  const folder = makeFolder();
  const { key, certificate } = makeCertificate();
  const rootCertificateFile = join(folder, "certificate.pem");
  writeFileSync(rootCertificateFile, certificate);
  writeFileSync(join(folder, "key.pem"), key);
  const [port, management, httpPort, httpsPort, dns, dnsManagement] = await Promise.all(
    Array.from({ length: 6 }, freePort),
  );
  if (httpPort === undefined || httpsPort === undefined) throw new Error("There are no free ports.");
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: rootCertificateFile,
    privateKey: join(folder, "key.pem"),
    httpPort,
    tlsPort: httpsPort,
    ocspResponderURL: "",
    externalAccountBindingRequired: true,
    externalAccountMACKeys: { [binding.kid]: binding.key },
  };
  const config = join(folder, "pebble.json");
  writeFileSync(config, JSON.stringify({ pebble }));
  const names = ["-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-dns01", `127.0.0.1:${dns}`];
  const off = ["-http01", "", "-https01", "", "-tlsalpn01", "", "-management", `127.0.0.1:${dnsManagement}`];
  await run(`${program}-challtestsrv`, [...names, ...off], /Starting management server/);
  await run(program, ["-config", config, "-dnsserver", `127.0.0.1:${dns}`], /ACME directory available/);
  return { directory: `https://127.0.0.1:${port}/dir`, binding, rootCertificateFile, httpPort, httpsPort };
}

/** Resolves when the program has printed this line. */
async function run(program: string, argv: readonly string[], ready: RegExp): Promise<ChildProcess> {
  const child = spawn(program, argv, { env: { PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "0" } });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    for (const output of [child.stdout, child.stderr]) {
      createInterface(output).on("line", (line) => {
        lines.push(line);
        if (ready.test(line)) resolve();
      });
    }
    child.on("error", reject).on("exit", () => reject(new Error(`${program} has ended: ${lines.join("\n")}`)));
  });
  return child;
}
