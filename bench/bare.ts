import fastify from "fastify";

/**
 * The upper limit: the same framework with the same requests and the recorded answers of the real server, headers included,
 * and no work in between. The difference to the real server is the cost of its work.
 */

export interface RecordedAnswer {
  readonly status: number;
  /** The headers of the real server, except those that the framework or Node adds. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

export interface BareAnswers {
  readonly create: RecordedAnswer;
  readonly claim: RecordedAnswer;
}

async function serve(answers: BareAnswers): Promise<number> {
  const server = fastify({ logger: false });
  const { create, claim } = answers;
  server.post("/api/v2/pushes", (_request, reply) => {
    reply.code(create.status).headers(create.headers).send(create.body);
  });
  server.get("/api/v2/pushes/:url_token.json", (_request, reply) => {
    reply.code(claim.status).headers(claim.headers).send(claim.body);
  });
  await server.listen({ host: "127.0.0.1", port: 0 });
  const address = server.server.address();
  if (address === null || typeof address === "string") throw new Error("The bare server has no port.");
  return address.port;
}

process.once("message", (answers: BareAnswers) => {
  serve(answers).then(
    (port) => process.send?.(port),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
