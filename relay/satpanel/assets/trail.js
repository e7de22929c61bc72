// Who has changed what: the events that somebody has caused.
import {get} from "./api.js";

const MOST = 500;

export class Trail {
  constructor() {
    this.next = 0;
    this.changes = []; // the latest first
  }

  // Asks for what has happened since it was asked last.
  async follow() {
    const {events, next} = await get("/events", {from: this.next, count: MOST});
    this.next = next;
    const caused = events.filter(({user}) => user);
    this.changes = caused.reverse().concat(this.changes).slice(0, MOST);
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
