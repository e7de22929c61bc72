// The frame of the panel: the session, the open page, and the navigation.
import * as api from "./api.js";
import {make, show, setText} from "./dom.js";
import {Monitor} from "./monitor.js";
import {failure} from "./notices.js";
import * as capture from "./page_capture.js";
import * as events from "./page_events.js";
import * as explain from "./page_explain.js";
import * as flow from "./page_flow.js";
import * as flows from "./page_flows.js";
import * as link from "./page_link.js";
import * as login from "./page_login.js";
import * as overview from "./page_overview.js";
import * as switches from "./page_switches.js";

// The pages by the first word of the address after "#/". A page has a title, and open(context),
// which returns the page's {element, close}. Pages with `listed` are in the navigation.
const PAGES = {
  "": {page: overview, listed: true},
  link: {page: link, listed: true},
  flows: {page: flows, listed: true},
  flow: {page: flow, under: "flows"},
  explain: {page: explain, listed: true},
  switches: {page: switches, listed: true},
  events: {page: events, listed: true},
  capture: {page: capture, listed: true},
  login: {page: login},
};
const RETRY_MS = 2000;

const place = (id) => document.getElementById(id);
const monitor = new Monitor(place("gateway"), place("alarm"));
const navigation = new Map();
let opened = null;
let wanted = ""; // the address to open after a login

function buildNavigation() {
  for (const [word, {page, listed}] of Object.entries(PAGES)) {
    if (listed) navigation.set(word, make("a", {href: `#/${word}`}, page.title));
  }
  show(place("navigation"), ...navigation.values());
}

function address() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [word, ...rest] = path.split("/");
  return {
    word: word in PAGES ? word : "",
    argument: rest.join("/"),
    query: new URLSearchParams(query),
  };
}

function isLoggedOut() {
  return api.session.login_required && api.session.user === null;
}

function showWho() {
  const {user, role, login_required: canLogIn, version} = api.session;
  setText(place("version"), `satpanel ${version}`);
  if (user !== null) {
    show(
      place("who"),
      make("span", {}, `${user} (${role})`),
      make("button", {type: "button", id: "logout", onclick: leave}, "Log out"),
    );
  } else {
    show(place("who"), canLogIn ? "" : "view only");
  }
}

function openPage(isFirst = false) {
  opened?.close();
  monitor.listen(null);
  const {word, argument, query} = address();
  const {page, under} = PAGES[word];
  if (isLoggedOut() && word !== "login") {
    wanted = location.hash;
    location.replace("#/login");
    return;
  }
  for (const [name, element] of navigation) {
    if (name === (under ?? word)) element.setAttribute("aria-current", "page");
    else element.removeAttribute("aria-current");
  }
  document.title = `${page.title} – satrelay`;
  opened = page.open({monitor, argument, query, enter});
  const heading = make("h1", {tabindex: -1}, page.title);
  show(place("content"), heading, opened.element);
  if (isFirst) return;
  window.scrollTo(0, 0);
  heading.focus();
}

function start() {
  showWho();
  place("navigation").hidden = isLoggedOut();
  place("gateway").hidden = isLoggedOut();
  if (isLoggedOut()) monitor.stop();
  else monitor.start();
}

function enter() {
  start();
  location.hash = wanted || "#/";
  wanted = "";
}

async function leave() {
  try {
    await api.logOut();
  } catch {
    await api.readSession(); // the session may have ended by itself
  }
  start();
  location.hash = "#/login";
}

api.whenLoggedOut(async () => {
  if (isLoggedOut()) return;
  await api.readSession();
  if (!isLoggedOut()) return;
  start();
  openPage();
});

place("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the part of the address after "#" names the page, so it must not change
  place("content").focus();
});

async function begin() {
  try {
    await api.readSession();
  } catch (error) {
    show(place("content"), make("h1", {}, "satrelay"), failure(error));
    setTimeout(begin, RETRY_MS);
    return;
  }
  buildNavigation();
  start();
  window.addEventListener("hashchange", () => openPage());
  openPage(true);
}

begin();
