import { oldAddresses } from "../../src/pages/old-addresses.ts";
import { startTestApp, type TestApp } from "./app.ts";

/**
 * Patterns of the GET routes that show a page, and of those that belong to a page and answer something else. Old addresses
 * only redirect.
 */
export async function findHtmlRoutes(): Promise<readonly string[]> {
  // Some routes exist only if the server sends email.
  const mails = { PWP__MAIL__SMTP_ADDRESS: "127.0.0.1", PWP__OVERRIDE_BASE_URL: "http://127.0.0.1:5100" };
  await using app = await startTestApp({ environment: mails });
  const found: string[] = [];
  for (const { method, pattern, access } of app.app.routes) {
    if (method !== "GET" || oldAddresses.some(({ from }) => from === pattern)) continue;
    // A public route may answer anything: a file, JSON, a page.
    if (access.startsWith("page") || (access === "public" && (await answersPage(app.server, pattern)))) {
      found.push(pattern);
    }
  }
  return found;
}

async function answersPage(server: TestApp["server"], pattern: string): Promise<boolean> {
  const { statusCode, headers } = await server.inject({ url: pattern.replace(/:\w+|\*/, "unknown") });
  return statusCode !== 404 && String(headers["content-type"]).startsWith("text/html");
}
