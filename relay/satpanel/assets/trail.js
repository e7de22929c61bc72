// Who has changed what: the events that somebody has caused.
import {get} from "./api.js";

const MOST = 500;

export class Trail {
  constructor() {
    this.next = 0;
    this.changes = []; // the latest first
    this.capacities = new Map();
    this.bootEpoch = null; // of the gateway that runs now
  }

  // Asks for what has happened since it was asked last.
  async follow() {
    const isFirst = this.next === 0;
    const {events, next} = await get("/events", {from: this.next, count: MOST});
    if (isFirst) await this.findCapacities(next);
    this.next = next;
    events.forEach((event) => this.keepCapacity(event));
    const caused = events.filter(({user}) => user);
    this.changes = caused.reverse().concat(this.changes).slice(0, MOST);
  }

  // A script may have changed a capacity long before the latest changes of others.
  async findCapacities(before) {
    const pages = await Promise.all(
      ["capacity_set", "reload_done"].map((filter) =>
        get("/events", {before, count: MOST, filter}),
      ),
    );
    pages
      .flatMap(({events}) => events)
      .sort((a, b) => a.boot_epoch - b.boot_epoch || a.number - b.number)
      .forEach((event) => this.keepCapacity(event));
  }

  keepCapacity(event) {
    const {name, subject, detail, boot_epoch: epoch, new: now} = event;
    if (name === "capacity_set" && now) {
      const [way, rate] = now.split(" ");
      this.capacities.set(`${subject} ${way}`, {rate, epoch});
    } else if (name === "reload_done") {
      // A link whose rate is another one is as configured again.
      for (const [, link] of (detail ?? "").matchAll(/\blinks\.([^, ]+)\.send_rate\b/g)) {
        this.capacities.delete(`link ${link} send`);
      }
    }
  }

  // What a link was last set to, one way, since the gateway's start; "configured" else.
  capacityOf(link, way) {
    const found = this.capacities.get(`link ${link} ${way}`);
    return found && found.epoch === this.bootEpoch ? found.rate : "configured";
  }

  // The latest about "rule web" and the like, or of a name that begins with a command's.
  latestAbout(subjects) {
    return this.changes.find(({subject}) => subjects.includes(subject));
  }
  latestOf(command) {
    return this.changes.find(({name}) => name.startsWith(`${command}_`));
  }
}

export function whatChanged({text, detail, old, new: now}) {
  const values = now === undefined ? "" : old === undefined ? `: ${now}` : `: ${old} → ${now}`;
  return `${text}${values}${detail ? ` (${detail})` : ""}`;
}
