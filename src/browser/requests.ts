import { answerRequest, keepFingerprint } from "./parts/answer-request.ts";
import { makeRequestKey } from "./parts/make-request.ts";
import { proveOwner } from "./parts/prove-owner.ts";
import { findRequestKey } from "./parts/request-key.ts";

makeRequestKey();
keepFingerprint();
answerRequest();
void findRequestKey();
proveOwner();
