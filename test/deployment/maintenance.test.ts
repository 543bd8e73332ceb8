import { expect, test } from "vitest";
import { openDeployment } from "../support/deployment.ts";

const deployment = openDeployment();

async function createFrom(address: string): Promise<string> {
  const headers = { "x-forwarded-for": address };
  const made = await deployment.api("/api/v2/pushes", { body: { push: { payload: "secret" } }, headers });
  expect(made.status).toBe(201);
  return made.body.url_token;
}

test("an operator's command ends the pushes of a network that both processes created, and no others", async () => {
  const flood: string[] = [];
  for (let count = 0; count < 20; count += 1) flood.push(await createFrom(`198.51.100.${count}`));
  const other = await createFrom("203.0.113.9");
  const ended = await deployment.run(["pushes", "end", "--from-network", "198.51.100.0/24", "--yes"]);
  expect(ended.exitCode, ended.stderr).toBe(0);
  const payloads: unknown[] = [];
  for (const urlToken of [...flood, other])
    payloads.push((await deployment.api(`/api/v2/pushes/${urlToken}`)).body.payload);
  expect(payloads).toEqual([...Array(20).fill(null), "secret"]);
});

test("acknowledged pushes open after each process was killed and replaced in turn", async () => {
  const made: string[] = [];
  for (const which of [0, 1] as const) {
    for (let count = 0; count < 5; count += 1) made.push(await createFrom("203.0.113.9"));
    await deployment.killAndReplace(which);
  }
  for (const urlToken of made) expect((await deployment.api(`/api/v2/pushes/${urlToken}`)).body.payload).toBe("secret");
});
