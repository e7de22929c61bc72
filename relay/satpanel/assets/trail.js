// The trail of changes: the events that users have caused.
import {get} from "./api.js";

const MOST = 500;

export class Trail {
  constructor() {
    this.next = 0;
    this.changes = []; // the latest first
  }

  // Fetches the events since the last call.
  async follow() {
    const {events, next} = await get("/events", {from: this.next, count: MOST});
    this.next = next;
    const caused = events.filter(({user}) => user);
    this.changes = caused.reverse().concat(this.changes).slice(0, MOST);
  }

  // latestAbout() returns the latest change of a subject like "rule web"; latestOf() returns the
  // latest change that a command caused.
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
