import { afterAll, beforeAll, describe } from "vitest";
import { bucket, credentials, region } from "../../../test/support/s3/object-store.ts";
import { radosGateway, startRadosGateway } from "../../../test/support/s3/rados-gateway.ts";
import { systemClock } from "../../base/clock.ts";
import { systemRandom } from "../../base/random.ts";
import { describeBlobStore } from "../blob-store.contract.ts";
import { createS3BlobStore } from "../s3-blob-store.ts";

describe.runIf(radosGateway !== undefined)("Ceph's object gateway", () => {
  let gateway: Awaited<ReturnType<typeof startRadosGateway>>;
  beforeAll(async () => {
    gateway = await startRadosGateway();
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  describeBlobStore("S3, on Ceph's object gateway", async () =>
    createS3BlobStore(
      { endpoint: gateway.endpoint, bucket, ...credentials, region, pathStyle: true, blobBytesMax: 100 * 1024 ** 2 },
      { clock: systemClock, random: systemRandom, pause: async () => undefined },
    ),
  );
});
