import { createServer, type RequestListener } from "node:http";
import { createServer as createTcpServer, type Server } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Config } from "../../config/config.ts";
import { loadConfig } from "../../config/load-config.ts";
import { checkBaseUrl, checkForwarders, checkServer, probeOverHttp } from "./check-network.ts";

function configOf(environment: Readonly<Record<string, string>>): Config {
  const loaded = loadConfig(environment, () => "");
  if (!loaded.ok) throw new Error(loaded.mistakes.join(" "));
  return loaded.config;
}

describe("checkBaseUrl", () => {
  it.each([
    ["ok", {}],
    ["warn", { HOST: "0.0.0.0" }],
    ["ok", { HOST: "0.0.0.0", PWP__ALLOWED_HOSTS: "push.example.com" }],
    ["ok", { HOST: "0.0.0.0", PWP__OVERRIDE_BASE_URL: "https://push.example.com" }],
    ["warn", { PWP__OVERRIDE_BASE_URL: "http://push.example.com" }],
    ["ok", { PWP__OVERRIDE_BASE_URL: "http://localhost:5100" }],
  ])("reports %s for %j", (level, environment) => {
    expect(checkBaseUrl(configOf(environment))).toMatchObject([{ level }]);
  });
});

describe("checkForwarders", () => {
  it("names a forwarder that is not trusted", () => {
    expect(checkForwarders(undefined)).toMatchObject([{ level: "ok" }]);
    expect(checkForwarders({ address: "10.1.2.3", seenAt: 0 })).toMatchObject([
      {
        level: "warn",
        sentence: expect.stringContaining("10.1.2.3 sent X-Forwarded headers at 1970-01-01T00:00:00.000Z"),
      },
    ]);
  });
});

async function portOf(server: Server): Promise<string> {
  onTestFinished(() => {
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return String(address.port);
}

/** Answers as this server does: the probes under any host, the version only under the allowed host. */
const answering: RequestListener = (request, response) => {
  const known =
    request.url === "/up" ||
    request.url === "/ready" ||
    (request.url === "/api/v2/version" && request.headers.host === "push.example.com");
  response.statusCode = known ? 200 : 400;
  response.end("{}");
};

describe("checkServer", () => {
  it("accepts a server that answers, also with a configured host", async () => {
    const PORT = await portOf(createServer(answering));
    expect(await checkServer(configOf({ PORT, HOST: "0.0.0.0" }), probeOverHttp)).toMatchObject([
      { level: "ok", sentence: `It answers at http://127.0.0.1:${PORT}.` },
    ]);
    const known = configOf({ PORT, PWP__OVERRIDE_BASE_URL: "https://push.example.com" });
    expect(await checkServer(known, probeOverHttp)).toMatchObject([{ level: "ok" }]);
    const unknown = configOf({ PORT, PWP__OVERRIDE_BASE_URL: "https://other.example.com" });
    expect(await checkServer(unknown, probeOverHttp)).toMatchObject([
      { level: "ok" },
      { level: "fail", sentence: expect.stringContaining("status 400") },
    ]);
  });

  it("warns if no server answers, and fails for any other answer", async () => {
    const closed = createTcpServer();
    const port = await portOf(closed);
    closed.close();
    expect(await checkServer(configOf({ PORT: port }), probeOverHttp)).toMatchObject([
      { level: "warn", sentence: expect.stringContaining("connection refused") },
    ]);
    const PORT = await portOf(createServer((_, response) => void response.writeHead(503).end()));
    expect(await checkServer(configOf({ PORT }), probeOverHttp)).toMatchObject([{ level: "fail" }]);
    const unready = await portOf(
      createServer((request, response) => void response.writeHead(request.url === "/up" ? 200 : 503).end()),
    );
    expect(await checkServer(configOf({ PORT: unready }), probeOverHttp)).toMatchObject([
      { level: "fail", sentence: expect.stringContaining("not ready") },
    ]);
    const stranger = await portOf(createTcpServer((socket) => void socket.end("220 mail ready\r\n")));
    expect(await checkServer(configOf({ PORT: stranger }), probeOverHttp)).toMatchObject([{ level: "warn" }]);
    expect(await checkServer(configOf({ PORT: "0" }), probeOverHttp)).toMatchObject([{ level: "warn" }]);
  });
});
