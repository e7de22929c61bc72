// The page that lists the relayed connections that use the link, the busiest first, with a search
// and a pager.
import {get} from "./api.js";
import {labelled, make, options} from "./dom.js";
import {NoticePlace, loading, nothing} from "./notices.js";
import {Poll} from "./poll.js";
import {FlowRates} from "./rates.js";
import {Pager, Table} from "./table.js";
import * as units from "./units.js";

export const title = "Flows";

const EVERY_MS = 3000; // satpanel fetches all flows at most as often as this
const PAGE = 25;
const ORDERS = [
  ["-to_lan_bytes", "most bytes to the LAN"],
  ["-from_lan_bytes", "most bytes from the LAN"],
  ["-lan_stored_bytes", "most waiting for the link"],
  ["-stp_stored_bytes", "most waiting for the host"],
  ["idle_ms", "active most recently"],
  ["-idle_ms", "idle for longest"],
  ["age_ms", "newest"],
  ["-age_ms", "oldest"],
  ["client", "client"],
  ["server", "server"],
  ["peer", "peer"],
];

function tableOf(rates, onsort) {
  const bytes = (field) => (flow) => units.binaryBytes(flow[field]);
  return new Table(
    "Flows: connections that are relayed",
    [
      {
        title: "flow",
        head: true,
        cell: (flow) => ({
          text:
            `${units.endpoint(flow.client, flow.client_port)} > ` +
            units.endpoint(flow.server, flow.server_port),
          href: `#/flow/${flow.id}`,
        }),
      },
      {title: "peer", sort: "peer", cell: (flow) => flow.peer},
      {
        title: "client is",
        sort: "client_side",
        cell: (flow) => (flow.client_side === "lan" ? "here" : "there"),
      },
      {title: "now from lan", numeric: true, cell: (flow) => units.bitRate(rates.of(flow).fromLan)},
      {title: "now to lan", numeric: true, cell: (flow) => units.bitRate(rates.of(flow).toLan)},
      {title: "from lan", numeric: true, sort: "from_lan_bytes", cell: bytes("from_lan_bytes")},
      {title: "to lan", numeric: true, sort: "to_lan_bytes", cell: bytes("to_lan_bytes")},
      {
        title: "waiting for link",
        numeric: true,
        sort: "lan_stored_bytes",
        cell: bytes("lan_stored_bytes"),
      },
      {
        title: "waiting for host",
        numeric: true,
        sort: "stp_stored_bytes",
        cell: bytes("stp_stored_bytes"),
      },
      {
        title: "age",
        numeric: true,
        sort: "age_ms",
        cell: (flow) => units.milliseconds(flow.age_ms),
      },
      {
        title: "idle",
        numeric: true,
        sort: "idle_ms",
        cell: (flow) => units.milliseconds(flow.idle_ms),
      },
      {title: "tcp state", sort: "tcp_state", cell: (flow) => flow.tcp_state},
    ],
    {key: (flow) => flow.id, onsort},
  );
}

export function open({query}) {
  let order = query.get("sort") || ORDERS[0][0];
  const rates = new FlowRates();
  const notices = new NoticePlace();
  notices.show(loading("the flows"), "loading");
  const orderChoice = make(
    "select",
    {onchange: () => sortBy(orderChoice.value)},
    options(ORDERS, order),
  );
  let typing = 0;
  const search = make("input", {
    type: "search",
    value: query.get("filter") ?? "",
    placeholder: "203.0.113.10",
    maxlength: 128,
    oninput: () => {
      clearTimeout(typing);
      typing = setTimeout(() => {
        pager.first = 0;
        askAnew();
      }, 300);
    },
  });
  // A click on a column's head sorts by the column, largest first. Another click reverses the
  // order.
  const table = tableOf(rates, (field) => sortBy(order === `-${field}` ? field : `-${field}`));
  const pager = new Pager(PAGE, () => askAnew());
  const list = make("div", {hidden: true}, table.element);

  function sortBy(wanted) {
    order = wanted;
    orderChoice.value = wanted;
    pager.first = 0;
    askAnew();
  }

  // The address contains the order and the filter, so that users can bookmark the view and send it
  // to others.
  function askAnew() {
    const address = new URLSearchParams({sort: order, filter: search.value});
    window.history.replaceState(null, "", `#/flows?${address}`);
    poll.now();
  }

  // If there are very many flows, satpanel refuses to sort or search. Then show pages of the flows
  // in the gateway's order.
  async function question() {
    const page = {first: pager.first, count: PAGE};
    try {
      return await get("/flows", {...page, sort: order, filter: search.value.trim()});
    } catch (error) {
      if (error.status !== 409) throw error;
      return {...(await get("/flows", page)), isAsItComes: true};
    }
  }
  const poll = new Poll(
    EVERY_MS,
    question,
    (page) => {
      rates.add(page.entries);
      table.update(page.entries);
      table.markSorted(page.isAsItComes ? "" : order);
      list.classList.remove("stale");
      list.hidden = page.entries.length === 0;
      pager.update(page);
      if (page.isAsItComes) {
        notices.show(
          nothing(
            "There are too many flows to sort or to search.",
            `There are ${units.count(page.total)} flows, listed in the gateway's order. To find ` +
              "one connection, use the page Diagnose, or satrelayctl flows.",
          ),
          "as it comes",
        );
      } else if (page.total > 0) {
        notices.clear();
      } else if (search.value.trim()) {
        notices.show(
          nothing(
            "No flow has this text.",
            "The search covers addresses, ports, the peer and the state. " +
              "The page Diagnose has the connections that are not relayed.",
          ),
          `none of ${search.value}`,
        );
      } else {
        notices.show(
          nothing(
            "No connection is relayed now.",
            "If you expect one, enter its addresses on the page Diagnose.",
          ),
          "none",
        );
      }
    },
    (error) => {
      list.classList.add("stale");
      notices.fail(error);
    },
  );

  return {
    element: [
      make(
        "p",
        {class: "lead"},
        "All connections that are relayed. Open a flow to see what it waits for.",
      ),
      make(
        "form",
        {class: "form", role: "search", onsubmit: (event) => event.preventDefault()},
        labelled("Filter by text", search),
        labelled("Sort by", orderChoice),
      ),
      notices.element,
      make("div", {class: "card"}, list, pager.element),
    ],
    close() {
      clearTimeout(typing);
      poll.stop();
    },
  };
}
