import type { Deployment } from "./deployment.ts";

/** A browser that only keeps cookies. Each of its requests goes to the other process. */
export class DeploymentVisitor {
  readonly #deployment: Deployment;
  readonly #cookies = new Map<string, string>();

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  /** By default GET, or POST of a form. */
  async visit(path: string, form?: Readonly<Record<string, string>>): Promise<Response> {
    const answer = await this.#deployment.visit(path, this, form);
    for (const line of answer.headers.getSetCookie()) {
      const [name = "", value = ""] = line.slice(0, line.indexOf(";")).split("=");
      if (/max-age=0/i.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return answer;
  }

  /** The statuses of a page that needs a session, at both processes. */
  async signedInAtBoth(): Promise<readonly number[]> {
    const statuses: number[] = [];
    for (const _ of ["each", "process"]) {
      const answer = await this.visit("/users/token");
      await answer.arrayBuffer();
      statuses.push(answer.status);
    }
    return statuses;
  }
}
