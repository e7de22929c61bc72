// Notices that stand in the place of data which is being fetched, does not exist, or cannot be
// fetched, or to which the user has no right.
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
  "Check that it runs (systemctl status satrelayd), and read its log. " +
  "If it runs, satpanel uses another socket: see the option --socket of satpanel.";

// Makes a sentence from a text of another program: an initial capital and a full stop.
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
      "Check that satpanel runs, and that this device can reach it. " +
        "The page continues by itself when satpanel answers.",
    );
  }
  if (error.status === 403)
    return block("right", "You are not allowed to do this.", sentence(error.message));
  if (error.status === 401)
    return block("right", "You are not logged in.", sentence(error.message));
  if (error.status === 503 || error.status === 429) {
    return block(
      "busy",
      "satpanel is busy.",
      sentence(error.message),
      "The page tries again by itself.",
    );
  }
  return block("failed", "The request failed.", sentence(error.message));
}

// Says why the user may not do something that needs `role`. The text stands beside disabled
// controls.
export function missingRight(role) {
  if (!session.login_required) {
    return (
      "This panel has no users, so it is view only. To change settings, start satpanel with " +
      "--users and add a user."
    );
  }
  return `This needs the role ${role}; ${session.user} has the role ${session.role}.`;
}

export const rightNote = (role) => block("right", "View only.", missingRight(role));

// A place in a page for at most one notice.
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
