import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { amzDate, authorization, percentEncode } from "./signature.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Amazon S3 API Reference, "Signature Calculations for the Authorization Header", "Examples". */
describe("the examples that Amazon publishes for S3", () => {
  const credentials = {
    accessKeyId: "AKIAIOSFODNN7EXAMPLE",
    secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  };
  const now = Date.UTC(2013, 4, 24);

  function sign(request: {
    method?: string;
    path: string;
    query?: Record<string, string>;
    headers?: Record<string, string>;
    payload?: string;
  }): string {
    const { method = "GET", path, query = {}, headers = {}, payload = "" } = request;
    const payloadSha256 = sha256(payload);
    const all = {
      ...headers,
      host: "examplebucket.s3.amazonaws.com",
      "x-amz-content-sha256": payloadSha256,
      "x-amz-date": amzDate(now),
    };
    const toSign = { method, path, query, headers: all, payloadSha256 };
    return authorization(toSign, { region: "us-east-1", service: "s3" }, credentials);
  }

  test("GET Object, with a range", () => {
    expect(sign({ path: "/test.txt", headers: { range: "bytes=0-9" } })).toBe(
      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request," +
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date," +
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    );
  });

  test("PUT Object, with a path to be encoded and a body", () => {
    const signed = sign({
      method: "PUT",
      path: `/${percentEncode("test$file.text")}`,
      headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      payload: "Welcome to Amazon S3.",
    });
    expect(signed).toContain("Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
  });

  test("GET Bucket Lifecycle, with a parameter without a value", () => {
    expect(sign({ path: "/", query: { lifecycle: "" } })).toContain(
      "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
    );
  });

  test("GET Bucket (list objects), parameters in any order", () => {
    expect(sign({ path: "/", query: { prefix: "J", "max-keys": "2" } })).toContain(
      "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
    );
  });
});

/** AWS Signature Version 4 Test Suite. */
describe("cases of Amazon's test suite", () => {
  const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };

  test.each([
    ["get-vanilla", "GET", {}, {}, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
    ["post-vanilla", "POST", {}, {}, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
    [
      "get-vanilla-query-order-key-case",
      "GET",
      { Param2: "value2", Param1: "value1" },
      {},
      "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    ],
    [
      "get-vanilla-utf8-query",
      "GET",
      { "\u1234": "bar" },
      {},
      "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04",
    ],
    [
      "post-header-key-sort",
      "POST",
      {},
      { "my-header1": "value1" },
      "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
    ],
  ])("%s", (_name, method, query, headers, signature) => {
    const all = { ...headers, "x-amz-date": "20150830T123600Z", host: "example.amazonaws.com" };
    const toSign = { method, path: "/", query, headers: all, payloadSha256: sha256("") };
    expect(authorization(toSign, { region: "us-east-1", service: "service" }, credentials)).toContain(
      `Signature=${signature}`,
    );
  });
});
