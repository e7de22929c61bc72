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

  // The latest change of a subject like "rule web", or with a name that begins with a command's.
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
