// The overview page: the states of LAN, gateway, link and peers, and what is wrong.
import {get} from "./api.js";
import {labelled, make, show, showIfNew} from "./dom.js";
import {findingsOf} from "./findings.js";
import {NoticePlace, gatewayGone, loading, nothing} from "./notices.js";
import {stateOf, stateWords, worstFirst} from "./peers.js";
import {picture} from "./picture.js";
import {Poll} from "./poll.js";
import {Pager, Table} from "./table.js";
import * as units from "./units.js";

export const title = "Overview";

const EVENTS_EVERY_MS = 5000;
const RECENT_MS = 15 * 60_000;
const narrowPage = matchMedia("(max-width: 48rem)");

function findingItem({tone, what, todo}) {
  return make(
    "li",
    {"data-tone": tone},
    make("p", {class: "what"}, what),
    todo && make("p", {}, todo),
  );
}

function peerTable(rates) {
  const rate = (way) => (peer) => units.bitRate(rates().of(`peer ${peer.name} ${way}`));
  return new Table(
    "Peers: state, rates, round trip and loss",
    [
      {title: "peer", head: true, cell: (peer) => peer.name},
      {title: "state", cell: (peer) => ({text: stateWords(peer), tone: stateOf(peer).tone})},
      {title: "address", cell: (peer) => peer.address},
      {title: "link", cell: (peer) => peer.link},
      {title: "sends", numeric: true, cell: rate("out")},
      {title: "may send", numeric: true, cell: (peer) => units.bitRate(peer.send_rate_bps)},
      {title: "receives", numeric: true, cell: rate("in")},
      {title: "rtt", numeric: true, cell: (peer) => units.duration(peer.rtt_us)},
      {title: "loss", numeric: true, cell: (peer) => units.share(peer.loss_ppm)},
      {title: "streams", numeric: true, cell: (peer) => units.count(peer.streams)},
    ],
    {key: (peer) => peer.name},
  );
}

// Returns the warnings and errors of the last minutes, the newest first.
function recentTroubles(events) {
  const since = Date.now() - RECENT_MS;
  return events
    .filter((each) => each.severity !== "info" && each.time_ms > since)
    .reverse()
    .slice(0, 5);
}

export function open({monitor}) {
  let rates = monitor.rates;
  let latest = null;
  const findings = make("ul", {class: "findings"});
  const drawing = make("div", {});
  const notices = new NoticePlace();
  notices.show(loading("the state of the gateway"), "loading");
  const table = peerTable(() => rates);
  const search = make("input", {type: "search", oninput: () => drawPeers()});
  const searchField = labelled("Filter by text", search);
  const pager = new Pager(20, () => drawPeers());
  const noPeers = new NoticePlace();
  const troubles = make("ul", {class: "findings"});
  const whole = make(
    "div",
    {hidden: true},
    make(
      "section",
      {class: "card", "aria-labelledby": "now-title"},
      make("h2", {id: "now-title"}, "Now"),
      findings,
    ),
    make(
      "section",
      {class: "card", "aria-labelledby": "picture-title"},
      make("h2", {id: "picture-title"}, "The gateway between its LAN and its peers"),
      drawing,
    ),
    make(
      "section",
      {class: "card", "aria-labelledby": "peers-title"},
      make("h2", {id: "peers-title"}, "Peers"),
      searchField,
      noPeers.element,
      table.element,
      pager.element,
    ),
  );
  const recent = make(
    "section",
    {class: "card", "aria-labelledby": "recent-title"},
    make("h2", {id: "recent-title"}, "Warnings of the last 15 minutes"),
    troubles,
    make("p", {}, make("a", {href: "#/events"}, "All events")),
  );

  function drawPeers() {
    const wanted = search.value.toLowerCase();
    const texts = (peer) => [peer.name, peer.address, peer.link, stateWords(peer)];
    const found = worstFirst(latest.peers).filter((peer) =>
      texts(peer).some((text) => String(text).toLowerCase().includes(wanted)),
    );
    const entries = found.slice(pager.first, pager.first + pager.size);
    table.update(entries);
    table.element.hidden = entries.length === 0;
    if (found.length === 0) {
      const why = wanted
        ? `No peer has “${search.value}” in its name, address, link or state.`
        : "The configuration names no peer, so everything is bridged.";
      noPeers.show(nothing("No peers to show.", why), why);
    } else {
      noPeers.clear();
    }
    searchField.hidden = latest.peers.length <= pager.size;
    pager.update({total: found.length, first: pager.first, entries});
  }

  function drawPicture() {
    if (latest) show(drawing, picture(latest, rates, narrowPage.matches));
  }
  narrowPage.addEventListener("change", drawPicture);

  function draw() {
    const found = findingsOf(latest);
    showIfNew(findings, found, () =>
      found.length
        ? found.map(findingItem)
        : findingItem({
            tone: "good",
            what: "All is well.",
            todo:
              "Both ports are up, every peer is alive, new connections are relayed, and no alarm " +
              "is open.",
          }),
    );
    drawPicture();
    if (latest.peers) drawPeers();
  }

  monitor.listen((overview, meter) => {
    rates = meter;
    if (!overview.up) {
      whole.classList.add("stale");
      if (!latest) {
        if (overview.isPanelGone) notices.show(nothing("satpanel does not answer."), "panel");
        else notices.show(gatewayGone(overview.error), overview.error);
      }
      return;
    }
    notices.clear();
    whole.classList.remove("stale");
    whole.hidden = false;
    latest = overview;
    draw();
  });
  const poll = new Poll(
    EVENTS_EVERY_MS,
    () => get("/events", {count: 100}),
    ({events}) => {
      const found = recentTroubles(events);
      showIfNew(troubles, found, () =>
        found.length
          ? found.map((each) =>
              make(
                "li",
                {"data-tone": each.severity === "error" ? "bad" : "warn"},
                make(
                  "p",
                  {class: "what"},
                  `${units.clock(each.time_ms)} ${each.subject}: ${each.text}`,
                ),
                each.advice && make("p", {}, each.advice),
              ),
            )
          : make("li", {"data-tone": "quiet"}, "None."),
      );
    },
    () => {},
  );

  return {
    element: [
      make(
        "p",
        {class: "lead"},
        "The state of the gateway, its ports and its peers, with all open problems.",
      ),
      notices.element,
      whole,
      recent,
    ],
    close() {
      narrowPage.removeEventListener("change", drawPicture);
      poll.stop();
    },
  };
}
