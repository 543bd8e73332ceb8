import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { type BrandingPart, brandingParts, brandNameCharactersMax, logoBytesMax } from "../../branding/branding.ts";
import type { InTransaction } from "../../database/database.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveBody, receiveForm } from "../../http/body/receive-body.ts";
import { immutableFor, sendPage } from "../../http/headers.ts";
import { goTo } from "../answers.ts";
import { renderPage } from "../page.ts";
import { type PageDeps, pageContext } from "../page-scope.ts";
import { brandingPath } from "../parts/logo.tsx";
import { administratorOf, changing, reading } from "./administrator.ts";
import { adminPaths } from "./frame.tsx";
import { problemText, type ThemeModel, themeView } from "./theme-view.tsx";

type Problems = ThemeModel["problems"];
type Typed = Pick<ThemeModel, "name" | "style">;

export function registerThemePages(server: FastifyInstance, deps: PageDeps): void {
  server.get<{ Params: { filename: string } }>(
    `${brandingPath}/:filename`,
    { config: { access: "public", changesState: false } },
    async (request, reply) => {
      const file = await deps.branding.findFile(request.params.filename);
      if (file === undefined) throw new AppError("not_found", "not-found");
      return immutableFor(reply).type(file.contentType).send(file.content);
    },
  );
  server.get(adminPaths.theme, { config: reading }, (request, reply) => sendLook(request, reply, deps, 200, {}));
  server.post(`${adminPaths.theme}/name`, { config: changing }, (request, reply) => setName(request, reply, deps));
  server.post(`${adminPaths.theme}/logo`, { config: { ...changing, formInParts: true } }, (request, reply) =>
    setLogo(request, reply, deps),
  );
  server.post(`${adminPaths.theme}/style`, { config: changing }, (request, reply) => setStyle(request, reply, deps));
  for (const part of brandingParts) {
    server.post(`${adminPaths.theme}/${part}/reset`, { config: changing }, async (request, reply) => {
      await deps.branding.reset(part, entryOf(request, deps, part));
      return goTo(adminPaths.theme, request, reply, deps);
    });
  }
}

async function setName(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const name = textOf(await receiveForm(request, deps.bodyBudget), "name");
  const entry = entryOf(request, deps, "name");
  if (await deps.branding.setName(name, entry)) return goTo(adminPaths.theme, request, reply, deps);
  const { admin } = pageContext(request, deps, null).messages;
  return sendLook(request, reply, deps, 422, { name: admin.badName({ max: brandNameCharactersMax }) }, { name });
}

async function setLogo(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  let bytes: Buffer = Buffer.alloc(0);
  await receiveBody(request, deps.bodyBudget, async ({ content }) => {
    const chunks: Uint8Array[] = [];
    let sizeBytes = 0;
    for await (const chunk of content) {
      sizeBytes += chunk.length;
      // One byte too many says that it is too long; the rest is read and dropped.
      if (sizeBytes <= logoBytesMax + 1) chunks.push(chunk);
    }
    bytes = sizeBytes > logoBytesMax ? Buffer.alloc(0) : Buffer.concat(chunks);
  });
  const entry = entryOf(request, deps, "logo");
  if (await deps.branding.setLogo(bytes, entry)) return goTo(adminPaths.theme, request, reply, deps);
  const { admin, formats } = pageContext(request, deps, null).messages;
  return sendLook(request, reply, deps, 422, { logo: admin.badLogo({ size: formats.bytes(logoBytesMax) }) });
}

async function setStyle(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const style = textOf(await receiveForm(request, deps.bodyBudget), "style");
  const problem = await deps.branding.setStyle(style, entryOf(request, deps, "style"));
  if (problem === undefined) return goTo(adminPaths.theme, request, reply, deps);
  const { messages } = pageContext(request, deps, null);
  return sendLook(request, reply, deps, 422, { style: problemText(problem, messages) }, { style });
}

function entryOf(request: FastifyRequest, { accounts }: PageDeps, part: BrandingPart): InTransaction {
  return accounts.adminEntry("changed_branding", part, administratorOf(request));
}

function sendLook(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  status: number,
  problems: Problems,
  typed: Partial<Typed> = {},
): FastifyReply {
  const theme = deps.branding.theme();
  const model: ThemeModel = {
    name: typed.name ?? theme.name ?? "",
    style: typed.style ?? theme.style?.content.toString("utf8") ?? "",
    ...{ theme, problems },
  };
  const context = pageContext(request, deps, request.method === "GET" ? adminPaths.theme : null);
  // A style sheet that hides everything must not hide the way to take it back.
  const plain = { ...context, theme: { ...context.theme, style: undefined } };
  return sendPage(reply, status, renderPage(themeView(model, plain)));
}
