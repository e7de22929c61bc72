// The page that shows the gateway's events as they happen.
import {get, readSession, streamAddress} from "./api.js";
import {labelled, make, options, setText} from "./dom.js";
import {NoticePlace, loading, nothing} from "./notices.js";
import {whatChanged} from "./trail.js";
import * as units from "./units.js";

export const title = "Events";

const FIRST = 200; // events fetched at first
const OLDER = 500; // events fetched at a time, when the user asks for older ones
const MOST = 10_000; // events shown at most, as many as satpanel keeps
const RETRY_MS = 3000;
const LEVELS = {error: 2, warning: 1, info: 0};
const TONES = {error: "bad", warning: "warn", info: "quiet"};

function itemOf(event) {
  return make(
    "li",
    {"data-severity": event.severity},
    make(
      "p",
      {},
      make(
        "time",
        {datetime: new Date(event.time_ms).toISOString()},
        units.dateAndClock(event.time_ms),
      ),
      make("span", {class: "badge", "data-tone": TONES[event.severity] ?? "quiet"}, event.severity),
    ),
    make(
      "p",
      {},
      make("strong", {}, event.subject),
      ": ",
      whatChanged(event),
      event.user ? ` by ${event.user}` : "",
      " ",
      make("code", {}, event.check ? `${event.name} ${event.check}` : event.name),
    ),
    event.cause && make("p", {}, event.cause),
    event.advice && make("p", {class: "advice"}, event.advice),
  );
}

// The stream of events, open while the page is visible. A stream that opens again continues at the
// position where it ended.
class Stream {
  constructor(position, onevent, onmissed, onstate) {
    this.position = position;
    this.onevent = onevent;
    this.onmissed = onmissed;
    this.onstate = onstate;
    this.retry = 0;
    this.source = null;
    this.onVisible = () => (document.hidden ? this.pause() : this.open());
    document.addEventListener("visibilitychange", this.onVisible);
    if (!document.hidden) this.open();
  }

  open() {
    this.pause();
    this.source = new EventSource(streamAddress(this.position));
    this.source.addEventListener("open", () => this.onstate(true));
    this.source.addEventListener("event", (message) => {
      this.position = message.lastEventId; // position of the next event
      this.onevent(JSON.parse(message.data));
    });
    this.source.addEventListener("missed", () => this.onmissed());
    this.source.addEventListener("error", () => this.again());
  }

  again() {
    this.pause();
    this.onstate(false);
    this.retry = setTimeout(async () => {
      // A refused stream gives no reason, so ask whether the session has ended.
      await readSession().catch(() => {});
      this.open();
    }, RETRY_MS);
  }

  pause() {
    clearTimeout(this.retry);
    this.source?.close();
    this.source = null;
  }

  close() {
    this.pause();
    document.removeEventListener("visibilitychange", this.onVisible);
  }
}

export function open() {
  const notices = new NoticePlace();
  notices.show(loading("the events"), "loading");
  const state = make("p", {class: "note", role: "status"}, "not connected yet");
  const list = make("ol", {class: "events", reversed: true});
  const severity = make(
    "select",
    {onchange: filter},
    options(
      [
        ["info", "all"],
        ["warning", "warnings and errors"],
        ["error", "errors"],
      ],
      "info",
    ),
  );
  const search = make("input", {type: "search", oninput: filter});
  const older = make("button", {type: "button", onclick: () => fetchOlder()}, "Older events");
  older.hidden = true;
  let first = 0; // position of the oldest event shown
  let shown = []; // {event, item}, the latest first
  let stream = null,
    retry = 0,
    isClosed = false,
    isMissing = false;

  function isWanted(event) {
    const text = [
      event.name,
      event.subject,
      event.text,
      event.detail,
      event.advice,
      event.check,
      event.cause,
      event.user,
      event.old,
      event.new,
    ].join(" ");
    return (
      (LEVELS[event.severity] ?? 2) >= LEVELS[severity.value] &&
      text.toLowerCase().includes(search.value.trim().toLowerCase())
    );
  }

  function filter() {
    for (const {event, item} of shown) item.hidden = !isWanted(event);
    tellHowMany();
  }

  function tellHowMany() {
    if (shown.some(({item}) => !item.hidden)) {
      if (isMissing) {
        notices.show(
          nothing(
            "Some events are missing.",
            "They came too fast to be kept; the gateway's log has them.",
          ),
          "missed",
        );
      } else {
        notices.clear();
      }
    } else if (shown.length) {
      notices.show(nothing("No event matches."), "filtered");
    } else {
      notices.show(nothing("There are no events yet."), "none");
    }
  }

  function add(event) {
    const item = itemOf(event);
    item.hidden = !isWanted(event);
    list.prepend(item);
    shown.unshift({event, item});
    for (const old of shown.splice(MOST)) old.item.remove();
  }

  // Fetches older events until it finds a wanted one, or there are no more.
  async function fetchOlder() {
    older.disabled = true;
    try {
      let isFound = false;
      while (!isFound && !isClosed && !older.hidden) {
        const page = await get("/events", {before: first, count: OLDER});
        if (isClosed) return;
        isFound = page.events.some(isWanted);
        addOlder(page);
      }
      tellHowMany();
    } catch (error) {
      if (!isClosed) notices.fail(error);
    } finally {
      older.disabled = false;
    }
  }

  function addOlder({events, first: reached, oldest}) {
    for (const event of events.reverse()) {
      const item = itemOf(event);
      item.hidden = !isWanted(event);
      list.append(item);
      shown.push({event, item});
    }
    seenBack(reached, oldest);
  }

  function seenBack(reached, oldest) {
    first = reached;
    older.hidden = reached <= oldest || shown.length >= MOST;
  }

  function told(isConnected) {
    setText(
      state,
      isConnected
        ? "Live: new events appear by themselves."
        : "The connection is interrupted; the page tries again every few seconds.",
    );
  }

  function follow(next) {
    stream = new Stream(
      next,
      (event) => {
        add(event);
        tellHowMany();
      },
      () => {
        isMissing = true;
        tellHowMany();
      },
      told,
    );
  }

  async function begin() {
    try {
      const {events, next, missed, first: reached, oldest} = await get("/events", {count: FIRST});
      if (isClosed) return;
      isMissing = missed;
      events.forEach(add);
      seenBack(reached, oldest);
      tellHowMany();
      follow(next);
    } catch (error) {
      if (isClosed) return;
      notices.fail(error);
      retry = setTimeout(begin, RETRY_MS);
    }
  }
  begin();

  return {
    element: [
      make("p", {class: "lead"}, "The changes of the gateway's state, with advice."),
      make(
        "form",
        {class: "form", onsubmit: (event) => event.preventDefault()},
        labelled("Show", severity),
        labelled("Filter by text", search),
      ),
      state,
      notices.element,
      make("section", {class: "card", "aria-label": "List of events"}, list, older),
    ],
    close() {
      isClosed = true;
      clearTimeout(retry);
      stream?.close();
    },
  };
}
