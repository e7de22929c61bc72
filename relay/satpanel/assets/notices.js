// Notices in the place of data: it is being fetched, there is none, it cannot be had, or the user
// has no right to it.
import {make, show} from "./dom.js";
import {session} from "./api.js";

function block(kind, title, ...texts) {
  return make(
    "div",
    {class: "notice", "data-kind": kind},
    make("p", {class: "notice-title"}, title),
    texts.map((text) => make("p", {}, text)),
  );
}

export const loading = (what) => block("loading", `Fetching ${what} ...`);

export const nothing = (title, ...texts) => block("empty", title, ...texts);

const GONE_ADVICE =
  "Look whether it runs (systemctl status satrelayd) and what its log says last. " +
  "If it runs, satpanel looks at another socket: see its option --socket.";

// Makes a sentence of another program's text.
export function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;
}

export function gatewayGone(detail) {
  return block("gone", "The gateway does not answer.", sentence(detail), GONE_ADVICE);
}

export function failure(error) {
  if (error.isGatewayGone) return gatewayGone(error.message);
  if (error.status === 0) {
    return block(
      "gone",
      `${error.message}.`,
      "The page goes on by itself as soon as it does. " +
        "Look whether satpanel runs, and whether this device still reaches it.",
    );
  }
  if (error.status === 403)
    return block("right", "You have no right to this.", sentence(error.message));
  if (error.status === 401)
    return block("right", "You are not logged in.", sentence(error.message));
  if (error.status === 503 || error.status === 429) {
    return block(
      "busy",
      "satpanel is busy.",
      sentence(error.message),
      "The page asks again by itself.",
    );
  }
  return block("failed", "That did not work.", sentence(error.message));
}

// Why the user may not do something that takes `role`: a note beside disabled controls.
export function missingRight(role) {
  if (!session.login_required) {
    return (
      "Nobody can log in here, so everybody only looks. To let somebody change something, " +
      "start satpanel with --users and add a user."
    );
  }
  return `This takes the role ${role}; ${session.user} has the role ${session.role}.`;
}

export const rightNote = (role) => block("right", "You may look, not change.", missingRight(role));

// A place for one notice, or for none.
export class NoticePlace {
  constructor() {
    this.element = make("div", {class: "notices", "aria-live": "polite"});
    this.key = "";
  }
  show(notice, key) {
    if (key === this.key) return;
    this.key = key;
    show(this.element, notice);
  }
  clear() {
    this.show(null, "");
  }
  fail(error) {
    this.show(failure(error), `${error.status} ${error.message}`);
  }
}
