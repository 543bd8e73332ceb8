import { createTokenCookies, type TokenCookies } from "../../http/session-cookie.ts";
import type { PageRequest } from "../request.ts";

/**
 * The proof of the request that this browser has opened last with its private link, so that its pages can be loaded again.
 * Removed when the browser closes. It opens no answer.
 */
export function proofCookies({ services }: PageRequest): TokenCookies {
  return createTokenCookies(services.config.secureCookies, { name: "sealpush_request_proof", sameSite: "Strict" });
}

export function proofOf(page: PageRequest): string {
  return proofCookies(page).find(page.request.raw, page.request.client) ?? "";
}

export function rememberProof(page: PageRequest, proof: string): void {
  page.setCookie(proofCookies(page).made(proof, page.request.client));
}
