import { answerRequest } from "./parts/answer-request.ts";
import { makeRequestKey } from "./parts/make-request.ts";
import { proveOwner } from "./parts/prove-owner.ts";
import { findRequestKey } from "./parts/request-key.ts";

makeRequestKey();
answerRequest();
void findRequestKey();
proveOwner();
