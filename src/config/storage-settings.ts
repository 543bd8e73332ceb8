import { optionalSetting, setting } from "./setting.ts";
import { storeAddress, storeName, storePlace, storeSecret } from "./storage-types.ts";
import { truth } from "./value-type.ts";

/** The part of the settings table about where sealed files lie. */
export const storageSettings = {
  storage: {
    title: "Where files lie",
    intro:
      "Files are sealed before they are stored, wherever that is. With `s3`, endpoint, bucket and both keys are needed; a bucket is for one installation alone.",
    settings: {
      kind: setting({
        env: "PWP__FILES__STORAGE",
        doc: "The place of sealed files: `local` is `blobs` in `DATA_DIR`, `s3` a bucket of an S3-compatible object store. `amazon` is `s3` at Amazon, where the region says the endpoint. The names of other stores are `s3` too.",
        type: storePlace,
        default: "local",
      }),
      endpoint: optionalSetting({
        env: "PWP__FILES__S3__ENDPOINT",
        doc: "The address of the object store, without the bucket.",
        type: storeAddress,
        unset: "not set",
      }),
      bucket: optionalSetting({
        env: "PWP__FILES__S3__BUCKET",
        doc: "The bucket. It must be there, without versioning.",
        type: storeName("a bucket's name: 3 to 63 letters, digits, dots, hyphens and underscores", 3),
        unset: "not set",
      }),
      region: setting({
        env: "PWP__FILES__S3__REGION",
        doc: "The region for which requests are signed.",
        type: storeName("a region's name: letters, digits, hyphens, such as eu-central-1 or auto", 1),
        default: "us-east-1",
      }),
      accessKeyId: optionalSetting({
        env: "PWP__FILES__S3__ACCESS_KEY_ID",
        doc: "The access key's name.",
        type: storeSecret,
        unset: "not set",
        hidden: "always",
      }),
      secretAccessKey: optionalSetting({
        env: "PWP__FILES__S3__SECRET_ACCESS_KEY",
        doc: "The access key itself.",
        type: storeSecret,
        unset: "not set",
        hidden: "always",
      }),
      pathStyle: setting({
        env: "PWP__FILES__S3__PATH_STYLE",
        doc: "Whether the bucket stands in the path of a request (`https://store/bucket/`). When off, it stands before the host's name (`https://bucket.store/`), as a few stores demand.",
        type: truth,
        default: "true",
      }),
    },
  },
};
