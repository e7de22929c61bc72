// The page that says which rule applies to a packet, which traffic is bridged, and why.
import {get} from "./api.js";
import {labelled, make, options, show} from "./dom.js";
import {NoticePlace, failure, loading, nothing} from "./notices.js";
import {Poll} from "./poll.js";
import {Table} from "./table.js";
import * as units from "./units.js";

export const title = "Diagnose";

const EVERY_MS = 1000;
const LATEST_EVERY_MS = 2000;
const USUAL = {protocol: "tcp", vlan: "untagged", dscp: "0", direction: "outbound"};

function nameOf(rule, name) {
  return rule ? `Rule ${rule}${name ? ` (${name})` : ""}` : "No rule";
}

const classOf = (answer) => (answer.class ? `; class ${answer.class}` : "");

function whatRuleSays(answer) {
  const modes = Object.entries({...answer.modes, ttl: answer.ttl, mptcp: answer.mptcp})
    .map(([name, word]) => `${name} ${word}`)
    .join(", ");
  if (answer.tcp_only === "yes") return `${answer.action}, for TCP only${classOf(answer)}`;
  const functions = answer.action === "accelerate" ? `: compress ${answer.compress}, ${modes}` : "";
  return `${answer.action}${functions}${classOf(answer)}`;
}

// Returns the tone and the sentence for an answer. Gateways without the field `outcome` do not
// compare the protocol of the packet with the action.
function verdict(answer) {
  if (answer.action === "drop" || answer.outcome === "dropped") return ["bad", "It is dropped."];
  if (answer.outcome === "reset") return ["bad", "It is answered with RST."];
  if (answer.action === "reset") return ["bad", "TCP is answered with RST; all else is dropped."];
  if (answer.bridged_as) return ["warn", `It is bridged, and counted as ${answer.bridged_as}.`];
  return answer.action === "accelerate"
    ? ["good", answer.outcome === "relayed" ? "It is relayed." : "It is relayed, if it is TCP."]
    : ["warn", "It is bridged."];
}

const WHY_SERVER_ANSWERS = {
  rule: "as the rule says",
  service_refused: "because it refused the latest connection, or did not answer",
  service_unknown: "because it has answered no connection for a day",
  family_silent: "because no server there answers over this version of IP",
  peer_refused: "because the peer refused this host, or had no room for the server",
  ttl_unknown: "because its TTL is not known",
};

function handshakeOf(answer) {
  if (answer.handshake !== "remote") return "";
  const why = WHY_SERVER_ANSWERS[answer.handshake_cause];
  return `The server answers the SYN${why ? `, ${why}` : ""}.`;
}

// Returns the class in which a bridged frame waits for the link, with its rates.
function turnOf(answer) {
  if (!answer.bridged_class) return "";
  const turn = answer.bridged_turn;
  const rates = [`weight ${answer.bridged_weight}`];
  if (answer.bridged_guaranteed_bps)
    rates.push(`guaranteed ${units.bitRate(answer.bridged_guaranteed_bps)}`);
  if (answer.bridged_maximum_bps)
    rates.push(`at most ${units.bitRate(answer.bridged_maximum_bps)}`);
  const whose = turn === answer.bridged_class ? "" : ` at the turn of class ${turn}`;
  return `For the link it waits in class ${answer.bridged_class}${whose}: ${rates.join(", ")}.`;
}

function answerOf(answer, meaning) {
  const [tone, sentence] = verdict(answer);
  const misses = Object.entries(answer.misses ?? {}).map(([rule, {name, criterion}]) =>
    make("li", {}, `${nameOf(rule, name)} does not match: another ${criterion}.`),
  );
  if (answer.more_misses > 0)
    misses.push(make("li", {}, `${answer.more_misses} more rules do not match.`));
  return make(
    "div",
    {id: "answer"},
    make(
      "ul",
      {class: "findings"},
      make(
        "li",
        {"data-tone": tone},
        make("p", {class: "what"}, sentence),
        answer.bridged_as && meaning && make("p", {}, `Meaning: ${meaning}.`),
        turnOf(answer) && make("p", {}, turnOf(answer)),
        handshakeOf(answer) && make("p", {}, handshakeOf(answer)),
      ),
    ),
    make("h3", {}, "Why"),
    make(
      "ol",
      {},
      misses,
      make(
        "li",
        {},
        answer.rule ? `${nameOf(answer.rule, answer.name)} matches: ` : "No rule matches: ",
        whatRuleSays(answer),
        ".",
      ),
    ),
    make(
      "p",
      {},
      answer.peer
        ? `The far host is behind peer ${answer.peer}, by its prefix ${answer.prefix}.`
        : "The far host is behind no peer: no peer's prefix contains its address.",
    ),
  );
}

// Computes how often each reason was counted per second, from one answer to the next.
class CountRates {
  constructor() {
    this.time_ms = NaN;
    this.counts = new Map();
  }
  of(reasons) {
    const now_ms = performance.now();
    const seconds = (now_ms - this.time_ms) / 1000;
    const rated = reasons.map((each) => {
      const more = each.count - this.counts.get(each.name);
      return {...each, perSecond: more >= 0 ? more / seconds : NaN};
    });
    this.time_ms = now_ms;
    this.counts = new Map(reasons.map(({name, count}) => [name, count]));
    return rated;
  }
}

function questionForm(query, ask) {
  const value = (name) => query.get(name) ?? USUAL[name] ?? "";
  const text = (name, more = {}) =>
    make("input", {
      name,
      value: value(name),
      autocomplete: "off",
      spellcheck: "false",
      ...more,
    });
  return make(
    "form",
    {class: "form", onsubmit: ask},
    labelled("Source", text("source", {required: true}), "The client's address"),
    labelled("Destination", text("destination", {required: true}), "Address, or 198.51.100.7:443"),
    labelled("Protocol", text("protocol"), "tcp, udp, icmp or a number"),
    labelled("VLAN", text("vlan"), "A number, or untagged"),
    labelled("DSCP", text("dscp"), "A number or a name"),
    labelled(
      "Direction",
      make(
        "select",
        {name: "direction"},
        options(
          [
            ["outbound", "outbound: the client is here"],
            ["inbound", "inbound: the client is behind a peer"],
          ],
          value("direction"),
        ),
      ),
    ),
    make("p", {class: "whole"}, make("button", {class: "main", type: "submit"}, "Ask the gateway")),
  );
}

const withoutPrefix = (name) => String(name).replace(/^bridged_/, "");

// Returns the table of the latest connections that were bridged.
function latestTable() {
  return new Table(
    "The latest connections that were bridged instead of relayed",
    [
      {
        title: "connection",
        head: true,
        cell: (each) => ({
          text:
            `${units.endpoint(each.client, each.client_port)} > ` +
            units.endpoint(each.server, each.server_port),
          href: `#/explain?${new URLSearchParams({
            source: each.client,
            destination: units.endpoint(each.server, each.server_port),
          })}`,
        }),
      },
      {title: "reason", cell: ({reason}) => withoutPrefix(reason)},
      {title: "rule", cell: ({rule, rule_name}) => rule_name || (rule ? String(rule) : units.NONE)},
      {title: "ago", numeric: true, cell: ({age_ms}) => units.milliseconds(age_ms)},
      {title: "SYNs", numeric: true, cell: ({syns}) => units.count(syns)},
    ],
    {key: ({place}) => place},
  );
}

function pollOfLatest(table, notices) {
  return new Poll(
    LATEST_EVERY_MS,
    () => get("/bridged-connections", {count: 100}),
    ({entries}) => {
      table.update(entries.map((each, place) => ({...each, place})));
      table.element.hidden = entries.length === 0;
      table.element.classList.remove("stale");
      if (entries.length) notices.clear();
      else
        notices.show(
          nothing("No connection was bridged yet.", "Every connection was relayed."),
          "none",
        );
    },
    (error) => {
      table.element.classList.add("stale");
      table.element.hidden ||= table.rows.size === 0;
      notices.fail(error);
    },
  );
}

export function open({query}) {
  const place = make("div", {"aria-live": "polite"});
  const notices = new NoticePlace();
  const meanings = new Map();
  const rates = new CountRates();
  notices.show(loading("the bridged frames"), "loading");
  const table = new Table(
    "Frames that were bridged, by reason",
    [
      {title: "reason", head: true, cell: ({name}) => name},
      {title: "a second, now", numeric: true, cell: ({perSecond}) => units.oneDecimal(perSecond)},
      {title: "since the start", numeric: true, cell: ({count}) => units.count(count)},
      {title: "meaning", cell: ({help}) => help},
    ],
    {key: ({name}) => name},
  );
  const form = questionForm(query, ask);

  async function ask(event) {
    event?.preventDefault();
    const given = Object.fromEntries(
      [...new FormData(form)].map(([name, value]) => [name, String(value)]),
    );
    window.history.replaceState(null, "", `#/explain?${new URLSearchParams(given)}`);
    show(place, loading("the answer"));
    try {
      const answer = await get("/explain", given);
      show(place, answerOf(answer, meanings.get(answer.bridged_as)));
    } catch (error) {
      show(place, failure(error));
    }
  }

  const poll = new Poll(
    EVERY_MS,
    () => get("/bridged", {count: 500}),
    ({entries: reasons}) => {
      for (const {name, help} of reasons) meanings.set(name, help);
      const used = rates
        .of(reasons)
        .filter(({count}) => count > 0)
        .sort((a, b) => b.count - a.count);
      table.update(used);
      table.element.hidden = used.length === 0;
      table.element.classList.remove("stale");
      if (used.length) notices.clear();
      else
        notices.show(
          nothing(
            "Nothing was bridged yet.",
            "Every frame since the start was relayed, dropped, or for the gateway itself.",
          ),
          "none",
        );
    },
    (error) => {
      table.element.classList.add("stale");
      table.element.hidden ||= table.rows.size === 0;
      notices.fail(error);
    },
  );
  const latest = latestTable();
  const latestNotices = new NoticePlace();
  latestNotices.show(loading("the latest connections"), "loading");
  const latestPoll = pollOfLatest(latest, latestNotices);
  if (query.get("source")) ask();

  return {
    element: [
      make(
        "p",
        {class: "lead"},
        "Find out why a connection is not accelerated. The gateway says which of its rules " +
          "applies, and how it treats the connection now.",
      ),
      make(
        "section",
        {class: "card", "aria-label": "Ask"},
        make("h2", {}, "How is this connection treated?"),
        form,
        place,
      ),
      make(
        "section",
        {class: "card", "aria-label": "Bridged"},
        make("h2", {}, "Bridged frames"),
        notices.element,
        table.element,
      ),
      make(
        "section",
        {class: "card", "aria-label": "Latest bridged connections"},
        make("h2", {}, "Latest bridged connections"),
        latestNotices.element,
        latest.element,
      ),
    ],
    close: () => {
      poll.stop();
      latestPoll.stop();
    },
  };
}
