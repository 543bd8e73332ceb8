import { accepted, oneWordOf, refused, type ValueType } from "./value-type.ts";

/** Password Pusher names the stores that it has been tried with; all of them speak S3, under the same settings. */
const places = oneWordOf({
  ...{ local: "local", s3: "s3", amazon: "amazon" },
  ...{ minio: "s3", backblaze_b2: "s3", cloudflare_r2: "s3", digitalocean_spaces: "s3" },
  ...{ linode_object_storage: "s3", wasabi: "s3" },
});

/** Other servers of this kind know stores that this one does not speak to. */
export const storePlace: ValueType<"local" | "s3" | "amazon"> = {
  allowed: places.allowed,
  parse(text) {
    if (!/^(?:google|microsoft)$/i.test(text)) return places.parse(text);
    return {
      ok: false,
      reason: "files lie in a local folder or an S3-compatible store only: it must be local, s3 or amazon",
    };
  },
};

/** The value has no slash at its end. */
export const storeAddress: ValueType<string> = {
  allowed: "an http or https address without user, query and fragment, such as https://s3.eu-central-1.amazonaws.com",
  parse(text) {
    const url = /^https?:\/\/[^\s\p{Cc}\\]+$/iu.test(text) ? URL.parse(text) : null;
    const bare = url !== null && url.username + url.password + url.search + url.hash === "" && !/[?#]/.test(text);
    return bare ? accepted(url.href.replace(/\/+$/, "")) : refused;
  },
};

/** Names that become a part of an address or a signature as they are. */
export function storeName(allowed: string, charactersMin: number): ValueType<string> {
  return {
    allowed,
    parse(text) {
      const good = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(text) && text.length >= charactersMin;
      return good ? accepted(text) : refused;
    },
  };
}

export const storeSecret: ValueType<string> = {
  allowed: "1 to 256 printable ASCII characters without blanks",
  parse: (text) => (/^[\x21-\x7e]{1,256}$/.test(text) ? accepted(text) : refused),
};
