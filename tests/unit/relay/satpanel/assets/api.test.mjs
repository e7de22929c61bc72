import assert from "node:assert/strict";
import {afterEach, test} from "node:test";

import * as api from "../../../../../relay/satpanel/assets/api.js";

const realFetch = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = realFetch;
});

// Makes the next requests get this answer. Returns the error of a request.
async function failureOf(status, type, body) {
  globalThis.fetch = async () => new Response(body, {status, headers: {"Content-Type": type}});
  try {
    await api.get("/peers");
  } catch (error) {
    return error;
  }
  assert.fail(`${status} is no failure`);
}

const PROBLEM = JSON.stringify({status: 502, detail: "the socket is not there"});
const PAGE = "<html><head><title>502 Bad Gateway</title></head></html>";

test("satpanel's 502 is about the gateway", async () => {
  const error = await failureOf(502, "application/problem+json", PROBLEM);
  assert.equal(error.isGatewayGone, true);
  assert.equal(error.message, "the socket is not there");
});

test("a web server's 502 or 504 is about satpanel", async () => {
  for (const status of [502, 504]) {
    const error = await failureOf(status, "text/html", PAGE);
    assert.equal(error.isGatewayGone, false, status);
    assert.equal(error.status, 0, status);
    assert.equal(error.message, "satpanel does not answer", status);
  }
});

test("a web server's 429 says why", async () => {
  const error = await failureOf(429, "text/html", PAGE);
  assert.equal(error.status, 429);
  assert.match(error.message, /requests come from this address/);
});
