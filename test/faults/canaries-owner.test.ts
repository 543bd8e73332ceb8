import { describe, expect, it } from "vitest";
import {
  api,
  begin,
  browser,
  createByJson,
  email,
  finish,
  fromOurPage,
  type Signed,
} from "../support/canary-requests.ts";
import { runProgram } from "../support/processes.ts";

/** @returns what a browser sends with the session. */
async function signIn({ client, password }: Signed): Promise<Readonly<Record<string, string>>> {
  const body = new URLSearchParams({ email, password });
  const { headers } = await client.ask(303, "/users/sign_in", { method: "POST", headers: fromOurPage, body });
  const cookie = headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  client.canaries.add("session", cookie.split("=", 2)[1] ?? "");
  return { ...fromOurPage, cookie };
}

describe("an owner's pages show labels and links to the owner, and no secret", () => {
  it("in the list, the search, the audit trail and its downloads", async () => {
    const signed = await begin();
    const { client } = signed;
    const session = await signIn(signed);
    const { push, urlToken } = await createByJson(signed, "owned");
    const { name, note, token } = push.labels;
    const stray = client.canaries.make("searched in vain");
    const searchFor = (text: string) => `/p?q=${encodeURIComponent(text)}`;

    await client.ask(200, "/p", { headers: session }, [name, note, token]);
    await client.ask(200, searchFor(push.name), { headers: session }, [name, note, token]);
    await client.ask(200, searchFor(stray), { headers: session }, ["searched in vain"]);
    await client.ask(400, searchFor(stray.repeat(10)), { headers: session });
    await client.ask(303, "/p", { headers: browser });

    const wrong = client.canaries.makeCore("wrong passphrase");
    const referer = `${client.server.baseUrl}/p/${urlToken}/r`;
    const given = { "x-push-passphrase": wrong, referer, ...browser };
    await client.ask(401, `${api}/${urlToken}`, { headers: given });
    const path = `/p/${urlToken}/audit`;
    await client.ask(200, path, { headers: session }, [name, note, token]);
    await client.ask(200, `${path}/download?format=csv`, { headers: session });
    await client.ask(200, `${path}/download?format=json`, { headers: session }, [name, note]);
    await client.ask(400, `${path}/download?format=${wrong}`, { headers: session });

    const body = new URLSearchParams({ next: "/p?state=expired" });
    await client.ask(303, `/p/${urlToken}/expire`, { method: "POST", headers: session, body });
    await client.ask(200, "/p?state=expired", { headers: session }, [name, note, token]);
    await finish(client);
  });
});

describe("an operator's commands store no secret", () => {
  it("when they create a user and a token", async () => {
    const { client, environment } = await begin();
    const password = client.canaries.make("password for a command");
    const user = ["--email", "bob@example.com"];
    const made = await runProgram(["user", "create", ...user, "--password-stdin"], environment, `${password}\n`);
    expect(made.exitCode, made.stderr).toBe(0);
    const token = await runProgram(["token", "create", ...user, "--name", "test"], environment);
    client.canaries.add("API token of a command", token.stdout.trim());
    await finish(client);
  });
});
