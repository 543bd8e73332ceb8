import {
  always,
  badBody,
  badPage,
  badToken,
  fieldErrors,
  lacksScope,
  type Operation,
  refused,
} from "../v2/operations.ts";
import { MessageAnswer } from "../v2/schemas.ts";
import * as handlers from "./handlers.ts";
import * as schemas from "./schemas.ts";

const path = "/api/sealpush/requests";
const pathOfOne = `${path}/:url_token`;

const unknownRequest = { 404: refused("No such request.") };
const notYours = { 404: refused("No such request of yours.") };
const badFields = { 400: refused("Not JSON or not a form, or a field is missing."), ...badBody };

const requester = { group: "internal", access: "api_requester", retrieval: false, body: null } as const;

/** Requests for secrets: an extension of Sealpush, beside the API of other servers of its kind. */
export const operations: readonly Operation[] = [
  {
    ...requester,
    id: "createRequest",
    method: "POST",
    path,
    scope: "create",
    changesState: true,
    summary: "Ask somebody for a secret",
    description:
      "An extension of Sealpush. Make an age identity, keep it, and send its recipient: answers are sealed for it and become " +
      "pushes of yours that end with their first view. See docs/requests.md. At most 100 of your requests can be open. A token " +
      "is needed unless PWP__REQUESTS__ALLOW_ANONYMOUS is set; without one, send owner_proof.",
    parameters: [],
    body: "request",
    answers: {
      201: { description: "The request. html_url is the link to send.", schema: schemas.OwnedRequestAnswer },
      ...badFields,
      ...badToken,
      ...lacksScope,
      ...fieldErrors,
      ...always,
    },
    handler: handlers.create,
  },
  {
    ...requester,
    access: "api_token",
    id: "listRequests",
    method: "GET",
    path,
    scope: "read",
    changesState: false,
    summary: "List your requests",
    description: "Newest first, 50 a page.",
    parameters: ["page"],
    answers: {
      200: { description: "Requests.", schema: schemas.RequestListAnswer },
      ...badPage,
      ...badToken,
      ...lacksScope,
      ...always,
    },
    handler: handlers.list,
  },
  {
    id: "showRequest",
    method: "GET",
    path: pathOfOne,
    access: "public",
    group: "recipient",
    scope: null,
    changesState: false,
    retrieval: false,
    body: null,
    summary: "Read a request before you answer it",
    description: "For everybody who has its link.",
    parameters: ["url_token"],
    answers: {
      200: { description: "The request.", schema: schemas.RequestAnswer },
      ...unknownRequest,
      ...always,
    },
    handler: handlers.show,
  },
  {
    id: "answerRequest",
    method: "POST",
    path: pathOfOne,
    access: "public",
    group: "recipient",
    scope: null,
    changesState: true,
    retrieval: false,
    body: "answer",
    summary: "Answer a request",
    description:
      "For everybody who has its link. Send JSON or a form; files need a multipart form with the field files[]. The answer " +
      "becomes a push of the request's owner; nobody else gets a link to it.",
    parameters: ["url_token"],
    answers: {
      201: { description: "It was handed over.", schema: MessageAnswer },
      ...badFields,
      ...unknownRequest,
      ...fieldErrors,
      ...always,
    },
    handler: handlers.answer,
  },
  {
    ...requester,
    id: "showRequestAnswers",
    method: "GET",
    path: `${pathOfOne}/answers`,
    scope: "read",
    changesState: false,
    summary: "Show the answers to your request",
    description: "Counts no view.",
    parameters: ["url_token", "X-Request-Proof", "push_locale"],
    answers: {
      200: { description: "The request with its answers.", schema: schemas.RequestAnswersAnswer },
      ...badToken,
      ...lacksScope,
      ...notYours,
      ...always,
    },
    handler: handlers.showAnswers,
  },
  {
    ...requester,
    id: "closeRequest",
    method: "POST",
    path: `${pathOfOne}/close`,
    scope: "expire",
    changesState: true,
    summary: "Close your request",
    description: "It takes no more answers. Those that have come stay.",
    parameters: ["url_token", "X-Request-Proof"],
    answers: {
      200: { description: "The request.", schema: schemas.OwnedRequestAnswer },
      ...badToken,
      ...lacksScope,
      ...notYours,
      ...always,
    },
    handler: handlers.close,
  },
  {
    ...requester,
    id: "deleteRequest",
    method: "DELETE",
    path: pathOfOne,
    scope: "expire",
    changesState: true,
    summary: "Delete your request with its answers",
    description: "The request is removed. Its answers end, also those that nobody has opened; their audit trails stay.",
    parameters: ["url_token", "X-Request-Proof"],
    answers: {
      200: { description: "It was deleted.", schema: MessageAnswer },
      ...badToken,
      ...lacksScope,
      ...notYours,
      ...always,
    },
    handler: handlers.remove,
  },
];
