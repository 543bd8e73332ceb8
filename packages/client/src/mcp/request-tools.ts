import type { OwnedRequest } from "../client.ts";
import { expiryOf } from "../expiry.ts";
import { Numbers } from "./numbers.ts";
import { objectSchema, pageSchema, type Tool, type ToolOptions } from "./tool.ts";

const shown = ({ state, expires_at, answers, answers_max }: OwnedRequest) => ({
  state,
  expires_at,
  answers,
  answers_max,
});

function requestTool({ client, showsSecrets, passphrase }: ToolOptions, requests: Numbers): Tool {
  return {
    name: "request",
    description:
      "Ask a person for a secret: creates a link to send to them. What they answer is sealed for the user; you do not see it.",
    input: objectSchema(["title"], {
      title: { type: "string", minLength: 1, description: "What is asked for. Those who answer see it." },
      note: { type: "string", description: "Shown below the title." },
      wants: { enum: ["text", "files", "both"], description: "Default: text." },
      answers: { type: "integer", minimum: 1, maximum: 100, description: "How many answers it takes. Default: 1." },
      expire: { type: "string", description: "Whole days or weeks such as 3d or 2w. Default: 7d." },
    }),
    isReadOnly: false,
    run: async ({ title, note, wants, answers, expire }, signal) => {
      if (passphrase === undefined && !showsSecrets) {
        throw new Error(
          "Nobody could open the answers: the user has to set SEALPUSH_PASSPHRASE for this program. It seals the key of requests.",
        );
      }
      const days = expire === undefined ? undefined : expiryOf(String(expire))?.expire_after_days;
      if (expire !== undefined && days === undefined) throw new Error("expire must be days or weeks such as 3d or 2w.");
      const made = await client.requests.create(
        {
          title: String(title),
          wants_text: wants !== "files",
          wants_files: wants === "files" || wants === "both",
          ...(typeof note === "string" ? { note } : {}),
          ...(typeof answers === "number" ? { answers_max: answers } : {}),
          ...(days === undefined ? {} : { expire_after_days: days }),
          ...(passphrase === undefined ? {} : { passphrase }),
        },
        { signal },
      );
      const number = requests.numberOf(made.url_token, made.private_link);
      const key = passphrase === undefined ? { private_link: made.private_link } : {};
      return { request: number, link_to_send: made.html_url, ...key, ...shown(made) };
    },
  };
}

/**
 * Tools to ask people for secrets. A private link contains the key of the answers, so the model gets none: the key is sealed under a passphrase
 * that the model does not know. Only where secrets may be shown, the links of answers keep their key here, for the tool `open`.
 */
export function requestTools(options: ToolOptions, pushes: Numbers): readonly Tool[] {
  const { client, showsSecrets, passphrase } = options;
  const requests = new Numbers("request", "requests");
  const request = requestTool(options, requests);
  const list: Tool = {
    name: "requests",
    description: "List the user's requests for secrets, newest first.",
    input: objectSchema([], { page: pageSchema }),
    isReadOnly: true,
    run: async ({ page }, signal) => {
      const found = await client.requests.list({ page: Number(page ?? 1), signal });
      return {
        requests: found.map((one) => ({
          request: requests.numberOf(one.url_token),
          title: one.title,
          link_to_send: one.html_url,
          ...shown(one),
        })),
      };
    },
  };
  const answers: Tool = {
    name: "answers",
    description: "List the answers to a request, oldest first, without their secrets. Each answer is a push.",
    input: objectSchema(["request"], {
      request: { type: "string", description: "A number from request or requests, or a link." },
    }),
    isReadOnly: true,
    run: async (given, signal) => {
      const key = showsSecrets && passphrase !== undefined ? { passphrase } : {};
      const found = await client.requests.answers(requests.namedBy(String(given.request)), { ...key, signal });
      return {
        ...shown(found),
        pushes: found.pushes.map(({ url_token, html_url, kind, created_at, expires_at, expired }) => ({
          push: pushes.numberOf(url_token, html_url.includes("#") ? html_url : undefined),
          kind,
          created_at,
          expires_at,
          expired,
        })),
      };
    },
  };
  return [request, list, answers];
}
