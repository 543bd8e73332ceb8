import type { FastifyInstance } from "fastify";
import { AppError } from "../../base/errors.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { type PageDeps, pageContext } from "../page-scope.ts";
import { changingFactors, readingFactors, sendBackupCodes, sendFactors, sendRefused } from "./answers.ts";
import { registerAppPages } from "./app-handler.ts";
import { changeOf, refusedChange } from "./change-request.ts";
import { registerPasskeyPages } from "./passkey-handler.ts";
import { backupCodesPath, factorsPath } from "./paths.ts";

export function registerFactorPages(server: FastifyInstance, deps: PageDeps): void {
  server.get(factorsPath, { config: readingFactors }, (request, reply) => sendFactors(request, reply, deps, 200, {}));
  registerAppPages(server, deps);
  registerPasskeyPages(server, deps);
  server.post(backupCodesPath, { config: changingFactors }, async (request, reply) => {
    const form = await receiveForm(request, deps.bodyBudget);
    const answer = await deps.accounts.makeBackupCodes(changeOf(request, form));
    switch (answer.outcome) {
      case "made":
        return sendBackupCodes(request, reply, deps, { codes: answer.backupCodes, added: false });
      case "unknown":
        throw new AppError("not_found", "not-found");
      default: {
        const refused = refusedChange(answer, reply, pageContext(request, deps, null).messages);
        return sendRefused(request, reply, deps, "backup_codes", refused);
      }
    }
  });
}
