import { createUserAdoption, type UserAdoption } from "../accounts/adopt-user.ts";
import { diskSpaceOf } from "../blobs/disk.ts";
import { createArgon2Queue } from "../crypto/passphrase.ts";
import { createIds } from "../db/ids.ts";
import { writeUntilKnown } from "../db/write-until-known.ts";
import type { Effects, House } from "../house.ts";
import { type AdoptionDeps, adoptPush } from "../pushes/adopt.ts";
import { createCapacity } from "../pushes/capacity.ts";
import { completePush, completeUser } from "./complete-rows.ts";
import type { Destination, IncomingUser, PushOutcome, StyleOutcome, UserOutcome } from "./destination.ts";
import { createKnownPushes, readKnownUsers } from "./known-pushes.ts";
import { noHoldings } from "./source.ts";
import { createImportedRows, type ImportedRows, noteAlone } from "./store/imported-rows.ts";
import { isSameStyle, refusalOfStyle } from "./style.ts";

/** Each lane of an import waits for one passphrase at most. */
const argon2Limits = { runningMax: 2, waitingMax: 64, waitingPerClientMax: 64 };
/** There is one style sheet, and it has no number there. */
const styleId = 0;

/** Brings everything into an open house. @param source as `ImportSource.fingerprint`. */
export function createHouseDestination(
  house: House,
  effects: Pick<Effects, "clock" | "random" | "monotonicMs">,
  source: string,
): Destination {
  const rows = createImportedRows(house.db.read, source);
  const users = createUserAdoption({ db: house.db, keyring: house.keyring, clock: effects.clock });
  const deps = adoptionDeps(house, effects);
  return {
    knownUsers: () => readKnownUsers(rows),
    knownPushes: () => createKnownPushes(rows),
    bringUser: (incoming, merge) => bringUser(users, rows, incoming, merge),
    async bringPush({ sourceId, push, lacks, holdings }): Promise<PushOutcome> {
      const brought = await adoptPush(deps, push, (unit, id) =>
        rows.note(unit, "push", sourceId, { id, lacks, holdings }),
      );
      return brought.outcome === "adopted" ? { ...brought, outcome: "brought" } : brought;
    },
    completeUser: (known, incoming) => completeUser(users, rows, known, incoming),
    completePush: (known, incoming) => completePush(deps, rows, known, incoming),
    bringStyle: (css) => bringStyle(house, rows, css),
    async countHere(firstPushId = Number.MAX_SAFE_INTEGER) {
      const [usersNoted, pushesNoted] = await Promise.all([rows.count("user"), rows.count("push")]);
      return { usersNoted, pushesNoted, holdingsNoted: await rows.holdings(), ...(await rows.sumsFrom(firstPushId)) };
    },
  };
}

function adoptionDeps(
  { config, db, vault, store, blobs }: House,
  { clock, random, monotonicMs }: Pick<Effects, "clock" | "random" | "monotonicMs">,
): AdoptionDeps {
  const diskSpace = diskSpaceOf(config.dataDir);
  return {
    ...{ config, db, vault, store, blobs, clock, random },
    ids: createIds(db, "pushes"),
    dispatchIds: createIds(db, "dispatches"),
    argon2: createArgon2Queue(argon2Limits),
    // What nobody owns there nobody owns here: what such pushes may hold in all is asked of new ones.
    capacity: createCapacity({
      config: { ...config, anonymousBytesMax: undefined },
      ...{ monotonicMs, diskSpace, anonymousBytes: async () => 0 },
    }),
  };
}

async function bringUser(
  users: UserAdoption,
  rows: ImportedRows,
  { sourceId, user, lacks }: IncomingUser,
  merge: boolean,
): Promise<UserOutcome> {
  const { value } = await writeUntilKnown(() =>
    users.adopt(user, merge, (unit, id, { merged, tokenTaken }) => {
      // An account that was here stays as it is but for its API tokens.
      const own = merged ? lacks.filter((part) => part === "api_token") : lacks;
      const all = tokenTaken ? [...own, "api_token" as const] : own;
      return rows.note(unit, "user", sourceId, { id, lacks: all, holdings: noHoldings });
    }),
  );
  if (value.outcome === "adopted") return { ...value, outcome: "brought" };
  if (value.outcome === "email_taken") return value;
  const [noted] = await rows.after("user", sourceId - 1, 1);
  if (noted?.sourceId !== sourceId) throw new Error("A user that came in before is not noted.");
  return { outcome: "known", userId: noted.id };
}

async function bringStyle(house: House, rows: ImportedRows, css: string): Promise<StyleOutcome> {
  if ((await rows.count("style")) > 0) return { outcome: "known" };
  const present = house.branding.look().style;
  if (present !== undefined && !(await isSameStyle(css, present.content))) return { outcome: "other_style" };
  const problem = present === undefined ? await house.branding.setStyle(css) : undefined;
  if (problem !== undefined) return { outcome: "refused", reason: refusalOfStyle(problem) };
  await noteAlone(house.db, rows, "style", styleId, styleId);
  return { outcome: "brought" };
}
