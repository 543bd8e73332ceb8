import { beforeAll, expect } from "vitest";
import { openDeployment } from "../support/deployment.ts";
import { scimToken } from "../support/scim.ts";

const deployment = openDeployment({ environment: { PWP__SCIM__TOKEN: scimToken } });

// No first account is made over SCIM.
beforeAll(async () => void (await deployment.makeUser("ada@example.com")));

const headers = { authorization: `Bearer ${scimToken}` };
const make = (userName: string, externalId: string) =>
  deployment.api("/scim/v2/Users", { body: { userName, externalId }, headers });
const find = (filter: string) => deployment.api(`/scim/v2/Users?filter=${encodeURIComponent(filter)}`, { headers });

let people = 0;
const newPerson = () => `person-${++people}`;

interface Racers {
  readonly requests: readonly (readonly [userName: string, externalId: string])[];
  readonly filter: string;
}

/** Requests to both processes at once, of which one makes the account. */
async function race({ requests, filter }: Racers) {
  const answers = await Promise.all(requests.map(([userName, externalId]) => make(userName, externalId)));
  expect(new Set(answers.map(({ process }) => process)).size).toBe(2);
  const statuses = answers.map(({ status }) => status).toSorted();
  expect(statuses).toEqual([201, ...Array<number>(requests.length - 1).fill(409)]);
  const [made] = answers.filter(({ status }) => status === 201);
  for (const { status, body } of answers) if (status === 409) expect(body).toMatchObject({ scimType: "uniqueness" });
  for (const _ of ["each", "process"]) {
    expect((await find(filter)).body).toMatchObject({ totalResults: 1, Resources: [{ id: made?.body.id }] });
  }
}

deployment.test("of users with one address at both processes, one is made", async () => {
  const person = newPerson();
  const userName = `${person}@example.com`;
  const requests = Array.from({ length: 8 }, (_, at) => [userName, `${person}-${at}`] as const);
  await race({ requests, filter: `userName eq "${userName}"` });
});

deployment.test("of users with one external id at both processes, one is made", async () => {
  const person = newPerson();
  const requests = Array.from({ length: 8 }, (_, at) => [`${person}-${at}@example.com`, person] as const);
  await race({ requests, filter: `externalId eq "${person}"` });
});
