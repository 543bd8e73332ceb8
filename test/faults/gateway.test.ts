import { expect, test } from "vitest";
import { makeFolder } from "../support/folders.ts";
import { startServer } from "../support/server.ts";

test("one process serves everything on one port and recipients alone on the other, and stops both", async () => {
  const environment = { PWP__PUBLIC_GATEWAY_PORT: "0", PWP__PUBLIC_GATEWAY_URL: "https://open.example.com" };
  const server = await startServer({ dataDir: makeFolder(), environment });
  await server.logged("gateway_started");
  const line = server.logLines.find((text) => text.includes("gateway_started")) ?? "";
  const gateway = `http://127.0.0.1:${/"port":(\d+)/.exec(line)?.[1]}`;
  const statusOf = async (url: string) => (await fetch(url)).status;
  expect(await Promise.all([server.baseUrl, gateway].map((at) => statusOf(`${at}/up`)))).toEqual([200, 200]);
  expect(await Promise.all([server.baseUrl, gateway].map((at) => statusOf(`${at}/`)))).toEqual([200, 404]);
  expect(await server.stop()).toMatchObject({ exitCode: 0 });
  await expect(fetch(`${gateway}/up`)).rejects.toThrow("fetch failed");
});
