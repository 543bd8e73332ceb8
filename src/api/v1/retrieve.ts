import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendJson } from "../../http/headers.ts";
import type { Pushes } from "../../pushes/pushes.ts";
import { claim, sendWrongPassphrase } from "../v2/handlers.ts";
import { presentEarlierGone, presentEarlierRevealed } from "../v2/presenters.ts";

export interface ApiV1Deps {
  readonly pushes: Pick<Pushes, "claimView">;
}

/** `GET /p/:url_token.json`, the address that every push's `json_url` names. */
export function registerApiV1(server: FastifyInstance, deps: ApiV1Deps): void {
  const config = { access: "api", scope: null, changesState: true, retrieval: true } as const;
  server.get("/p/:url_token.json", { config }, (request, reply) => retrieve(request, reply, deps));
}

/** As this version's users know it, an owner's own retrieval is logged and not counted. */
async function retrieve(request: FastifyRequest, reply: FastifyReply, deps: ApiV1Deps): Promise<FastifyReply> {
  const claimed = await claim(request, deps.pushes, "strangers");
  if (claimed.outcome === "refused") return sendWrongPassphrase(reply);
  const answer =
    claimed.outcome === "gone"
      ? presentEarlierGone(claimed.push, request.baseUrl)
      : presentEarlierRevealed(claimed.push, claimed, request.baseUrl);
  return sendJson(reply, 200, answer);
}
