import fastify from "fastify";

/**
 * The ceiling: the same framework, given the same requests and sending the same answers, headers included, as the real
 * server did when it was recorded - and nothing in between. What the real server is slower by is what it does.
 */

export interface RecordedAnswer {
  readonly status: number;
  /** As the real server sent them, but for those that the framework or Node adds by itself. */
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
