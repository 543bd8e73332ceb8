import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { ask, createPush, image, lab, openPush } from "./shared.ts";

const name = "server";
const volume = "server-data";
const origin = "http://127.0.0.1:5100";
const memory = ["--memory=256m", "--memory-swap=256m"];
const published = ["--publish=127.0.0.1:5100:5100", `--volume=${volume}:/data`, ...memory];

afterEach(async () => await lab.remove([name], [volume]));

test("the image serves with a read-only root, keeps its data over a replacement, and stops in order", async () => {
  await lab.start(name, image, published);
  await lab.healthy(name);
  const token = await createPush(origin, "a secret");
  await lab.podman("stop", "--time", "40", name);
  expect(await lab.exitCode(name)).toBe(0);
  await lab.remove([name]);
  await lab.start(name, image, published);
  await lab.healthy(name);
  expect(await openPush(origin, token)).toBe("a secret");
  expect(await openPush(origin, token)).toBeNull();
  const files = await lab.podman("exec", name, "sh", "-c", "id -u; ls /data; touch /app/a 2>&1; true");
  expect(files).toMatch(/^1000\n(?:.*\n)*master\.key\n(?:.*\n)*.*Read-only file system/);
});

test.each([1, 2, 3])("a signal 0.3 seconds after the start ends it in order (%i)", async () => {
  await lab.start(name, image, published);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await lab.podman("stop", "--time", "40", name);
  expect([0, 143]).toContain(await lab.exitCode(name));
});

test("without a volume it warns that the data end with the container", async () => {
  await lab.start(name, image, memory);
  const log = await lab.logged(name, "server_started");
  expect(log).toMatch(/"setting_warning"[^\n]*anonymous volume[^\n]*mount a volume with a name at \/data/);
});

test("it runs as any user of group 0, as OpenShift starts it", async () => {
  await lab.start(name, image, [...published, "--user=4711:0"]);
  await lab.healthy(name);
  expect(await openPush(origin, await createPush(origin, "of 4711"))).toBe("of 4711");
});

test("it writes a backup into a new volume, which another container verifies", async () => {
  const backups = "backups";
  onTestFinished(() => lab.remove([], [backups]));
  await lab.start(name, image, [...published, `--volume=${backups}:/backup`]);
  await lab.healthy(name);
  await createPush(origin, "in the backup");
  await lab.podman("exec", name, "sealpush-backups", "once");
  const [file = ""] = (await lab.podman("exec", name, "ls", "/backup")).split("\n");
  expect(file).toMatch(/^20[\d-]+\.tar$/);
  const verified = await lab.run(
    image,
    ["backup", "verify", "--from", `/backup/${file}`],
    [`--volume=${backups}:/backup`],
  );
  expect(verified).toMatchObject({ status: 0 });
});

test("commands run in it, and a mistake has the documented exit code", async () => {
  expect((await lab.run(image, ["--version"])).output.trim()).toBe("3.0.0");
  expect((await lab.run(image, ["keys", "generate"])).output.trim().length).toBeGreaterThan(40);
  expect((await lab.run(image, ["nonsense"])).status).toBe(2);
  expect((await lab.run(image, [], ["--env=PORT=none"])).status).toBe(2);
});

const pebble = process.env.SEALPUSH_TEST_PEBBLE ?? "/usr/bin/pebble";

/** An ACME server at the address that the containers know as their gateway; it takes every domain as verified. */
async function startPebble(): Promise<{ readonly authority: string }> {
  const folder = join(lab.folder, "files");
  const certificate = join(folder, "acme.pem");
  const key = join(folder, "acme.key");
  await lab.inNetwork("openssl", [
    ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=acme.test"],
    ...["-addext", "subjectAltName=DNS:acme.test", "-keyout", key, "-out", certificate],
  ]);
  const settings = {
    listenAddress: "0.0.0.0:14000",
    managementListenAddress: "127.0.0.1:15000",
    certificate,
    privateKey: key,
    httpPort: 80,
    tlsPort: 443,
    ocspResponderURL: "",
    externalAccountBindingRequired: false,
  };
  writeFileSync(join(folder, "pebble.json"), JSON.stringify({ pebble: settings }));
  const [file, parameters] = lab.commandInNetwork([pebble, "-config", join(folder, "pebble.json")]);
  const child = spawn(file, parameters, {
    env: { PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "0", PEBBLE_VA_ALWAYS_VALID: "1" },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit").then(() => Promise.reject(new Error("Pebble has ended.")));
  const ready = (async () => {
    for await (const line of createInterface(child.stdout)) if (line.includes("ACME directory available")) return;
  })();
  await Promise.race([ready, ended]);
  return { authority: certificate };
}

test("with TLS_DOMAIN it gets a certificate from an authority of the image's own store, and is healthy only then", async () => {
  const { authority } = await startPebble();
  const authorities = join(lab.folder, "files/authorities.crt");
  writeFileSync(authorities, readFileSync(authority));
  await lab.start(name, image, [
    ...published,
    "--publish=127.0.0.1:443:443",
    "--sysctl=net.ipv4.ip_unprivileged_port_start=0",
    "--add-host=acme.test:10.88.0.1",
    "--env=TLS_DOMAIN=push.example.test",
    "--env=ACME_DIRECTORY=https://acme.test:14000/dir",
    `--volume=${authorities}:/etc/ssl/certs/ca-certificates.crt:ro`,
  ]);
  await lab.healthy(name);
  const here = ["--insecure", "--resolve", "push.example.test:443:127.0.0.1"];
  expect((await ask("https://push.example.test/up", here)).status).toBe(200);
  const issuer = await lab.inNetwork("curl", [
    ...here,
    "--silent",
    "--verbose",
    "--stderr",
    "-",
    "https://push.example.test/up",
  ]);
  expect(issuer).toMatch(/issuer: CN=Pebble/);
});
