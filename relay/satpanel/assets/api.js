// Sends requests to satpanel, and describes their failures.

const BASE = "/api/v1";
const PATIENCE_MS = 15_000;
const PANEL_GONE = "satpanel does not answer";

// A request that failed. `status`: the HTTP status; 0: satpanel itself did not answer.
export class ApiError extends Error {
  constructor(status, detail, retryAfter = 0) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter; // seconds
  }
  get isGatewayGone() {
    return this.status === 502;
  }
}

// The session, as GET /session returns it.
export let session = {user: null, role: null, csrf: null, login_required: false, version: ""};
let onLoggedOut = () => {};

export function whenLoggedOut(action) {
  onLoggedOut = action;
}

async function problemOf(response) {
  let detail = `satpanel answered ${response.status}`;
  try {
    const problem = await response.json();
    detail = problem.detail || problem.title || detail;
  } catch {
    // The body is not problem+json: a web server in front of satpanel answered, or the answer was
    // cut off. The web server's 502 is about satpanel, and satpanel's own 502 about the gateway.
    if (response.status === 502 || response.status === 504) {
      return new ApiError(0, PANEL_GONE);
    }
    if (response.status === 429) detail = "Too many requests come from this address at once";
  }
  return new ApiError(response.status, detail, Number(response.headers.get("Retry-After")) || 0);
}

// Returns a signal that aborts a request after this time. TypeScript 4.8, which checks these
// modules, does not know timeout().
const signalAfter = (milliseconds) => /** @type {any} */ (AbortSignal).timeout(milliseconds);

async function ask(method, path, body, signal) {
  const headers = new Headers();
  if (method !== "GET") {
    headers.set("Content-Type", "application/json");
    if (session.csrf) headers.set("X-CSRF-Token", session.csrf);
  }
  let response;
  try {
    response = await fetch(BASE + path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ?? signalAfter(PATIENCE_MS),
      credentials: "same-origin",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, PANEL_GONE);
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (response.status === 401 && path !== "/session") onLoggedOut();
  throw problem;
}

async function jsonOf(response) {
  try {
    return await response.json();
  } catch {
    throw new ApiError(0, "satpanel's answer was cut off");
  }
}

// Example: get("/flows", {first: 0, filter: ""}). Parameters that are "" or null are left out.
export async function get(path, parameters = {}) {
  const kept = Object.entries(parameters).filter(([, value]) => value !== "" && value !== null);
  const query = new URLSearchParams(kept).toString();
  return jsonOf(await ask("GET", path + (query ? `?${query}` : "")));
}

export async function post(path, body, patienceMs = PATIENCE_MS) {
  return jsonOf(await ask("POST", path, body, signalAfter(patienceMs)));
}

// Returns the file in the answer. `signal` aborts the request.
export async function postForFile(path, body, signal) {
  return (await ask("POST", path, body, signal)).blob();
}

export async function readSession() {
  session = await get("/session");
  return session;
}

export async function logIn(name, password) {
  session = await post("/session", {name, password});
  return session;
}

export async function logOut() {
  session = await jsonOf(await ask("DELETE", "/session"));
  return session;
}

export const streamAddress = (from) => `${BASE}/events/stream?from=${encodeURIComponent(from)}`;
