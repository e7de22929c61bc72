// The page that captures the frames of one of the gateway's ports in a file for Wireshark.
import {postForFile, session} from "./api.js";
import {labelled, make, newId, options, show} from "./dom.js";
import {failure, nothing, rightNote} from "./notices.js";
import * as units from "./units.js";

export const title = "Capture";

const MOST_SECONDS = 60;
const MOST_PACKETS = 100_000;

function save(file, name) {
  const address = URL.createObjectURL(file);
  make("a", {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function nameFor(port) {
  const stamp = units.dateAndClock(Date.now()).replace(/[^0-9]+/g, "-");
  return `satrelay-${port}-${stamp}.pcapng`;
}

export function open() {
  const mayCapture = session.role === "operator" || session.role === "administrator";
  const place = make("div", {role: "status", id: "result"});
  const port = make(
    "select",
    {name: "port", onchange: followPort},
    options([
      ["lan", "lan: the traffic of the hosts"],
      ["wan", "wan: the traffic of the link"],
    ]),
  );
  const decrypted = make("input", {type: "checkbox", id: newId("decrypted")});
  const filter = make("input", {
    name: "filter",
    placeholder: "tcp port 443",
    autocomplete: "off",
    spellcheck: "false",
  });
  const packets = make("input", {
    name: "packets",
    type: "number",
    min: 1,
    max: MOST_PACKETS,
    value: 1000,
    required: true,
  });
  const seconds = make("input", {
    name: "seconds",
    type: "number",
    min: 1,
    max: MOST_SECONDS,
    value: 30,
    required: true,
  });
  const start = make("button", {class: "main", type: "submit"}, "Capture");
  const stop = make("button", {type: "button", disabled: true}, "Cancel");
  const controls = make(
    "fieldset",
    {disabled: !mayCapture, class: "plain"},
    make("legend", {}, "Capture settings"),
    make(
      "div",
      {class: "form"},
      labelled("Port", port),
      labelled("Filter", filter, "As for tcpdump; if empty, all frames"),
      labelled("Packets", packets, `Ends after so many, up to ${units.count(MOST_PACKETS)}`),
      labelled("Seconds", seconds, `Ends after so many, up to ${MOST_SECONDS}`),
    ),
    make(
      "p",
      {},
      decrypted,
      " ",
      make(
        "label",
        {for: decrypted.id},
        "decrypted: anyone with the file can read the data that STP carries",
      ),
    ),
    make("p", {class: "row"}, start, stop),
  );
  const form = make("form", {onsubmit: capture}, controls);
  let waiting = null;

  function followPort() {
    decrypted.disabled = port.value !== "wan";
    if (decrypted.disabled) decrypted.checked = false;
  }
  followPort();

  function setWaiting(abort) {
    waiting = abort;
    start.disabled = abort !== null;
    stop.disabled = abort === null;
  }
  stop.addEventListener("click", () => waiting?.abort());

  async function capture(event) {
    event.preventDefault();
    const abort = new AbortController();
    setWaiting(abort);
    show(
      place,
      make(
        "p",
        {class: "notice", "data-kind": "loading"},
        `Capturing at port ${port.value}: ${packets.value} packets or ${seconds.value} s.`,
      ),
    );
    try {
      const file = await postForFile(
        "/capture",
        {
          port: port.value,
          decrypted: decrypted.checked,
          filter: filter.value.trim(),
          packets: Number(packets.value),
          seconds: Number(seconds.value),
        },
        abort.signal,
      );
      const name = nameFor(port.value);
      save(file, name);
      show(
        place,
        make(
          "div",
          {class: "notice", "data-kind": "done"},
          make("p", {class: "notice-title"}, `${name}: ${units.binaryBytes(file.size)}`),
          make(
            "p",
            {},
            "The file was downloaded. Open it in Wireshark; satrelay's dissector shows STP too.",
          ),
        ),
      );
    } catch (error) {
      show(
        place,
        error.name === "AbortError" ? nothing("Cancelled; nothing was saved.") : failure(error),
      );
    } finally {
      setWaiting(null);
    }
  }

  return {
    element: [
      make(
        "p",
        {class: "lead"},
        "Captures the frames of a port into a file. The file contains data of the hosts: treat " +
          "it as confidential.",
      ),
      mayCapture ? null : rightNote("operator"),
      make("section", {class: "card", "aria-label": "Capture"}, form, place),
    ],
    close: () => waiting?.abort(),
  };
}
