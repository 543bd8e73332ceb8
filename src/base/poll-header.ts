/**
 * The header of requests that an open page makes by itself, again and again. They may use only a part of their client's limit:
 * see `createChargeRequest` of `http/throttle.ts`.
 */
export const pollHeader = "x-sealpush-poll";
