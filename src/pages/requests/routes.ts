import type { PageRoute } from "../request.ts";
import { answerRequest, showRequest } from "./answer.tsx";
import { closeRequest, deleteRequest, proveOwner, showAnswers, showRequests } from "./handler.ts";
import { createRequest, showNewRequest } from "./new-request.tsx";
import { answersPath, newRequestPath, requestsPath } from "./paths.ts";

const recipient = { group: "recipient", access: "page" } as const;
const requester = { group: "internal", access: "page_requester" } as const;
const onePath = `${requestsPath}/:token`;

const routes: readonly PageRoute[] = [
  { method: "GET", path: requestsPath, group: "internal", access: "page_session", handler: showRequests },
  { ...requester, method: "POST", path: requestsPath, handler: createRequest, keepsTyped: true },
  { ...requester, method: "GET", path: newRequestPath, handler: showNewRequest },
  { ...recipient, method: "GET", path: onePath, handler: showRequest },
  { ...recipient, method: "POST", path: onePath, handler: answerRequest, streamsFiles: true, keepsTyped: true },
  { ...requester, method: "GET", path: answersPath(":token"), handler: showAnswers },
  { ...requester, method: "POST", path: answersPath(":token"), handler: proveOwner },
  { ...requester, method: "POST", path: `${onePath}/close`, handler: closeRequest },
  { ...requester, method: "POST", path: `${onePath}/delete`, handler: deleteRequest },
];

/** The pages of requests for secrets: who asks makes, reads and closes them; who has the link answers. */
export const requestRoutes: readonly PageRoute[] = routes.map((route) => ({
  ...route,
  isEnabled: ({ requestsEnabled }) => requestsEnabled,
}));
