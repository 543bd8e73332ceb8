import { answerRequest, keepFingerprint } from "./parts/answer-request.ts";
import { proveOwner } from "./parts/prove-owner.ts";
import { findRequestKey } from "./parts/request-key.ts";

keepFingerprint();
answerRequest();
void findRequestKey();
proveOwner();
