import { spawn } from "node:child_process";
import { once } from "node:events";
import { serverFile } from "../bundles.ts";

/** A push for the screenshots, with a history. */
export interface ShownPush {
  readonly urlToken: string;
}

const administrator = { email: "ada@example.com", password: "quartz lantern willow" };
const others = ["grace@example.com", "edsger@example.com", "barbara@example.com"];

const browsers = {
  chrome:
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
  firefox: "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
  safari:
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
};

interface Visitor {
  readonly address: string;
  readonly userAgent: string;
}

const ada = { address: "192.0.2.17", userAgent: browsers.firefox };

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Sets how far the clock of the server is behind. */
type SetClock = (behindMs: number) => Promise<void>;

/** Creates the first administrator, other users, tokens and pushes through the pages and the API, in the course of a week. */
export async function moveIn(
  origin: string,
  dataDir: string,
  bootCode: string,
  setClock: SetClock = () => Promise.resolve(),
) {
  await setClock(6 * dayMs);
  await send(origin, "/first_run", { form: { ...administrator, boot_code: bootCode }, visitor: ada });
  for (const email of others) await createUser(email, dataDir);
  const cookie = await signIn(origin);
  await send(origin, "/users/token", {
    form: { name: "build server", may_create: "1", expires_in_days: "90" },
    visitor: ada,
    cookie,
  });
  return { signIn: administrator, shown: await sharePushes(origin, setClock) };
}

async function signIn(origin: string): Promise<string> {
  const phone = { address: "203.0.113.40", userAgent: browsers.safari };
  return cookieOf(await send(origin, "/users/sign_in", { form: administrator, visitor: phone }));
}

/** Creates a user by the operator's command: such accounts are confirmed. */
async function createUser(email: string, dataDir: string): Promise<void> {
  const command = spawn(process.execPath, [serverFile, "user", "create", "--email", email, "--password-stdin"], {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ["pipe", "ignore", "inherit"],
  });
  command.stdin.end(`${administrator.password} too`);
  const [exitCode] = await once(command, "exit");
  if (exitCode !== 0) throw new Error(`user create ended with ${exitCode}.`);
}

async function sharePushes(origin: string, setClock: SetClock): Promise<ShownPush> {
  let cookie = "";
  // A session may not be idle for long.
  const at = async (behindMs: number) => {
    await setClock(behindMs);
    cookie = await signIn(origin);
  };
  const push = async (fields: Readonly<Record<string, string>>) => {
    const form = Object.entries(fields).map(([name, value]) => [`push[${name}]`, value]);
    const answer = await send(origin, "/p", { form: Object.fromEntries(form), visitor: ada, cookie });
    const urlToken = /\/p\/([^/]+)\/preview/.exec(answer.headers.get("location") ?? "")?.[1];
    if (urlToken === undefined) throw new Error("A push was not made.");
    return urlToken;
  };
  const colleague = { address: "198.51.100.23", userAgent: browsers.chrome };
  const phone = { address: "203.0.113.40", userAgent: browsers.safari };
  await at(6 * dayMs);
  await push({ payload: "a", name: "VPN, new colleague", expire_after_days: "30" });
  const used = await push({ payload: "a", name: "Licence key", note: "Ticket 4711", expire_after_views: "1" });
  await at(5 * dayMs);
  await open(origin, used, colleague);
  await push({ kind: "qr", payload: "WIFI:T:WPA;S:Guests;P:quartz-lantern;;", name: "Guest Wi-Fi" });
  await at(3 * dayMs);
  const portal = await push({ payload: "a", name: "Payroll portal" });
  const shown = await push({
    payload: "quartz-lantern-willow-93",
    name: "Database, production",
    note: "For the new colleague",
    passphrase: "lantern",
    expire_after_days: "14",
    expire_after_views: "5",
  });
  await at(2 * dayMs);
  await open(origin, shown, colleague, "latern");
  await open(origin, shown, colleague, "lantern");
  await at(26 * hourMs);
  await push({ kind: "url", payload: "https://example.com/invoice", name: "Invoice", passphrase: "willow" });
  const key = await push({ payload: "a", name: "API key, staging", expire_after_views: "3" });
  await at(5 * hourMs);
  await open(origin, portal, phone);
  await at(50 * minuteMs);
  await open(origin, shown, phone, "lantern");
  await push({ payload: "a", name: "Mail server, root" });
  await at(4 * minuteMs);
  await open(origin, key, { address: "198.51.100.23", userAgent: browsers.firefox });
  await at(0);
  return { urlToken: shown };
}

function open(origin: string, urlToken: string, visitor: Visitor, passphrase?: string): Promise<Response> {
  const given = passphrase === undefined ? {} : { "x-push-passphrase": passphrase };
  return fetch(`${origin}/api/v2/pushes/${urlToken}`, { headers: { ...headersOf(visitor), ...given } });
}

async function send(
  origin: string,
  path: string,
  {
    form,
    visitor,
    cookie = "",
  }: { readonly form: Readonly<Record<string, string>>; readonly visitor: Visitor; readonly cookie?: string },
): Promise<Response> {
  const headers = { ...headersOf(visitor), cookie, "sec-fetch-site": "same-origin" };
  const body = new URLSearchParams(form);
  const answer = await fetch(`${origin}${path}`, { method: "POST", headers, body, redirect: "manual" });
  // The token page shows the new token; all other forms redirect.
  if (answer.status >= 400) throw new Error(`${path} answered ${answer.status}.`);
  return answer;
}

/** The server trusts a proxy on its own machine. */
function headersOf({ address, userAgent }: Visitor) {
  return { "x-forwarded-for": address, "user-agent": userAgent };
}

function cookieOf(answer: Response): string {
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
}
