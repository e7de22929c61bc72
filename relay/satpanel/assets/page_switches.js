// The page with controls for all commands of the gateway, made from GET /commands, beside the
// current settings.
import {get, post, session} from "./api.js";
import {closeDialogue, openDialogue} from "./dialogue.js";
import {labelled, make, newId, setAttribute, setText, show} from "./dom.js";
import {argumentsForm, currentText} from "./fields.js";
import {NoticePlace, failure, loading, missingRight, nothing, rightNote} from "./notices.js";
import {stateWords} from "./peers.js";
import {Poll} from "./poll.js";
import {Pager, Table} from "./table.js";
import {Trail, whatChanged} from "./trail.js";
import * as units from "./units.js";

export const title = "Controls";

const EVERY_MS = 2000;
const PAGE = 20;
const COMMAND_PATIENCE_MS = 40_000; // satpanel waits up to 30 s for the result of a reload

const ruleName = ({rule, name}) => (name ? `${rule} ${name}` : String(rule));

// Returns the rate that an operator has set for one direction of a link.
function setOf(link, way) {
  const rate = link[`${way}_commanded_bps`];
  return rate ? units.bitRate(rate) : "configured";
}

// Says for a command's first argument where the gateway lists the possible values. For arguments
// that are missing in this table, the user writes the value.
const TARGETS = {
  "set RULE": {
    title: "Functions of rules",
    list: (page) => get("/rules", page),
    word: ({rule}) => String(rule),
    // The key also contains the action, since another rule may have this number after a reload.
    key: ({rule, action}) => `${rule} ${action}`,
    text: ruleName,
    subjects: ({rule, name}) => [`rule ${rule}`, `rule ${name}`],
    refusal: ({action}) =>
      action === "accelerate" ? "" : "only rules that accelerate have functions",
    isShown: ({rule}) => rule !== 0,
    columns: [{title: "action", cell: ({action}) => action}],
  },
  "class NAME": {
    title: "Classes",
    list: (page) => get("/classes", page),
    word: ({name}) => name,
    text: ({name}) => name,
    subjects: ({name}) => [`class ${name}`],
    refusal: ({name}) =>
      ["relayed", "bridged"].includes(name) ? "for traffic without a class" : "",
    columns: [],
  },
  "rate PEER": {
    title: "Rates of peers",
    list: (page) => get("/peers", page),
    word: ({name}) => name,
    text: ({name}) => name,
    subjects: ({name}) => [`peer ${name}`],
    columns: [
      {title: "state", cell: stateWords},
      {title: "may send", numeric: true, cell: (peer) => units.bitRate(peer.send_rate_bps)},
    ],
  },
  "capacity LINK": {
    title: "Capacity of links",
    list: (page) => get("/links", page),
    word: ({name}) => name,
    text: ({name}) => name,
    subjects: ({name}) => [`link ${name}`],
    refusal: ({peers}) => (peers ? "" : "no peer uses it"),
    columns: [
      {title: "peers", numeric: true, cell: ({peers}) => String(peers)},
      {title: "send", cell: (link) => setOf(link, "send")},
      {title: "receive", cell: (link) => setOf(link, "receive")},
      // This rate may be lower than the set rate: the configured rate, the found rate, and the rates
      // that peers announce or are allowed also limit it.
      {title: "sends now", numeric: true, cell: (link) => units.bitRate(link.send_capacity_bps)},
    ],
  },
};

const capital = (word) => word[0].toUpperCase() + word.slice(1);

function lastChange(change) {
  return change ? `${change.user}, ${units.dateAndClock(change.time_ms)}` : units.NONE;
}

// Returns the current state of a command without a target, as a word of the command's one choice.
function stateOf(command, status) {
  return command.name === "bypass" && status ? (status.new_flows === "bypass" ? "on" : "off") : "";
}

class CommandCard {
  constructor(command, {told, trail}) {
    this.command = command;
    this.told = told;
    this.trail = trail;
    // A viewer gets a short note, since the full note stands above all cards.
    this.note = command.allowed
      ? null
      : make(
          "p",
          {class: "note", id: newId("right")},
          session.role === "viewer"
            ? `This needs the role ${command.role}.`
            : missingRight(command.role),
        );
  }

  button(text, action, more = {}) {
    return make(
      "button",
      {
        type: "button",
        disabled: !this.command.allowed,
        onclick: action,
        "aria-describedby": this.note?.id,
        ...more,
      },
      text,
    );
  }

  card(name, ...content) {
    return make(
      "section",
      {class: "card", "aria-label": name, "data-command": this.command.name},
      make("h2", {}, name),
      make("p", {class: "note"}, `${this.command.help}.`),
      this.note,
      content,
    );
  }

  async send(values) {
    const path = `/commands/${encodeURIComponent(this.command.name)}`;
    return post(path, {arguments: values}, COMMAND_PATIENCE_MS);
  }

  // Opens a dialogue for the arguments that are not given. A command that interrupts traffic always
  // gets a dialogue.
  ask(heading, given, entry) {
    const {command} = this;
    const form = argumentsForm(command, given, entry);
    openDialogue({
      title: heading,
      isRisky: command.interrupts,
      confirm: command.interrupts ? `Yes, ${command.name}` : "Set",
      content: [
        command.interrupts &&
          make(
            "p",
            {class: "notice", "data-kind": "right"},
            `This interrupts connections. ${command.help}.`,
          ),
        form.element,
      ],
      send: () => this.send(form.values()),
      done: (answer) => this.told(heading, answer),
    });
  }
}

// A command about the gateway as a whole. If the command has one choice, the card has a button for
// each word of the choice, or else only one button.
class PlainCard extends CommandCard {
  constructor(command, context) {
    super(command, context);
    const name = capital(command.name);
    const [argument] = command.arguments;
    const isSwitch =
      command.arguments.length === 1 && argument.type === "choice" && !command.interrupts;
    this.last = make("span", {});
    this.words = new Map();
    if (isSwitch) {
      for (const word of argument.words) {
        this.words.set(
          word,
          this.button(word, () => this.throwSwitch(argument.name, word), {
            "aria-label": `${name} ${word}`,
          }),
        );
      }
    }
    const controls = isSwitch
      ? [...this.words.values()]
      : this.button(`${name} ...`, () => this.ask(name, {}), {
          class: command.interrupts ? "risky" : null,
        });
    this.element = this.card(
      name,
      make("p", {class: "row", role: "group", "aria-label": name}, controls),
      make("p", {class: "note"}, "Last changed: ", this.last),
    );
  }

  async throwSwitch(argument, word) {
    const what = `${capital(this.command.name)} ${word}`;
    try {
      this.told(what, await this.send({[argument]: word}));
    } catch (error) {
      this.told(what, null, error);
    }
  }

  async refresh(status) {
    const now = stateOf(this.command, status);
    for (const [word, button] of this.words) {
      setAttribute(button, "aria-pressed", now ? String(word === now) : null);
      button.classList.toggle("main", word === now);
    }
    setText(this.last, lastChange(this.trail.latestOf(this.command.name)));
  }
}

// A command about one of several targets, with a table of the targets and a button for each.
class TargetCard extends CommandCard {
  constructor(command, target, context) {
    super(command, context);
    this.target = target;
    this.notices = new NoticePlace();
    this.notices.show(loading(target.title.toLowerCase()), "loading");
    const [{settings = []} = {}] = command.arguments.filter(({type}) => type === "settings");
    this.table = new Table(
      `${target.title}: present settings`,
      [
        {title: "name", head: true, cell: target.text},
        ...target.columns,
        ...settings.map((spec) => ({
          title: spec.name,
          cell: (entry) => (target.refusal?.(entry) ? "" : currentText(entry, spec)),
        })),
        {
          title: "set",
          cell: ({changed}) => (changed === "yes" ? "yes, until the next reload" : ""),
        },
        {
          title: "last changed",
          cell: (entry) => lastChange(this.trail.latestAbout(target.subjects(entry))),
        },
        {title: "change", control: (row) => this.changeButton(row)},
      ].filter(({title: name}) => name !== "set" || settings.length > 0),
      {key: target.key ?? target.word},
    );
    this.search = make("input", {
      type: "search",
      oninput: () => {
        this.pager.first = 0;
        this.refresh();
      },
    });
    this.searchField = labelled("Filter by text", this.search);
    this.searchField.hidden = true;
    this.pager = new Pager(PAGE, () => this.refresh());
    this.element = this.card(
      target.title,
      this.searchField,
      this.notices.element,
      this.table.element,
      this.pager.element,
    );
  }

  changeButton(row) {
    const refusal = this.target.refusal?.(row.entry);
    if (refusal) return make("span", {class: "note"}, refusal);
    const {command, target} = this;
    const heading = `Change ${target.subjects(row.entry)[0]}`;
    const given = () => ({[command.arguments[0].name]: target.word(row.entry)});
    return this.button("Change ...", () => this.ask(heading, given(), row.entry), {
      "aria-label": heading,
    });
  }

  async refresh() {
    const {target, pager, search, table} = this;
    try {
      const page = await target.list({
        first: pager.first,
        count: PAGE,
        filter: search.value.trim(),
      });
      const entries = page.entries.filter((entry) => target.isShown?.(entry) ?? true);
      table.update(entries);
      table.element.classList.remove("stale");
      table.element.hidden = entries.length === 0;
      pager.update(page);
      this.searchField.hidden = page.total <= PAGE && search.value === "";
      if (entries.length) this.notices.clear();
      else this.notices.show(nothing("There is nothing to set here."), "empty");
    } catch (error) {
      table.element.classList.add("stale");
      table.element.hidden ||= table.rows.size === 0;
      if (!error.isGatewayGone) this.notices.fail(error);
      else
        this.notices.show(
          table.rows.size ? null : nothing("Not known while the gateway does not answer."),
          "gone",
        );
    }
  }
}

function changesTable() {
  return new Table(
    "Changes by users, the latest first",
    [
      {title: "when", head: true, cell: (change) => units.dateAndClock(change.time_ms)},
      {title: "user", cell: ({user}) => user},
      {title: "subject", cell: ({subject}) => subject},
      {title: "change", cell: whatChanged},
    ],
    {key: ({boot_epoch: epoch, number}) => `${epoch} ${number}`},
  );
}

export function open({monitor}) {
  const notices = new NoticePlace();
  notices.show(loading("the commands"), "loading");
  const trail = new Trail();
  const result = make("div", {role: "status", id: "result"});
  const place = make("div", {});
  const changes = changesTable();
  const noChanges = make(
    "p",
    {class: "note"},
    "The events that are kept contain no change by a user.",
  );
  let cards = null;

  function told(what, answer, error) {
    show(
      result,
      error
        ? failure(error)
        : make(
            "div",
            {class: "notice", "data-kind": "done"},
            make("p", {class: "notice-title"}, `${what}: ${answer.answer}`),
          ),
    );
    poll.now();
  }

  function build(commands) {
    notices.clear();
    cards = commands.map((command) => {
      const [first] = command.arguments;
      const target = TARGETS[`${command.name} ${first?.name}`];
      return target
        ? new TargetCard(command, target, {told, trail})
        : new PlainCard(command, {told, trail});
    });
    const isOfTarget = (card) => Number(card instanceof TargetCard);
    cards.sort((a, b) => isOfTarget(a) - isOfTarget(b));
    const plain = cards.filter((card) => card instanceof PlainCard).map(({element}) => element);
    const others = cards.filter((card) => card instanceof TargetCard).map(({element}) => element);
    show(
      place,
      commands.some(({allowed}) => !allowed) && session.role === "viewer"
        ? rightNote("operator")
        : null,
      make("div", {class: "grid"}, plain),
      make("div", {class: "section-gap"}, others),
    );
  }

  async function look() {
    if (!cards) build(await get("/commands"));
    await trail.follow();
    await Promise.all(cards.map((card) => card.refresh(monitor.latest?.status)));
  }

  const poll = new Poll(
    EVERY_MS,
    look,
    () => {
      const latest = trail.changes.slice(0, PAGE);
      changes.update(latest);
      changes.element.hidden = latest.length === 0;
      noChanges.hidden = latest.length > 0;
    },
    (error) => notices.fail(error),
  );

  return {
    element: [
      make(
        "p",
        {class: "lead"},
        "Commands to the running gateway. Functions of rules and classes hold until the next " +
          "reload of the configuration. Bypass, rates of peers and capacities of links outlast a " +
          "reload: they hold until they are set again, or until the gateway restarts.",
      ),
      result,
      notices.element,
      place,
      make(
        "section",
        {class: "card", "aria-label": "Changes"},
        make("h2", {}, "Changes"),
        noChanges,
        changes.element,
      ),
    ],
    close() {
      poll.stop();
      closeDialogue();
    },
  };
}
