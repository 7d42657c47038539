// Tells a screen reader what has happened, and nothing of what merely goes on: a few words, every now and then.

const EVERY_MS = 1500;
const AT_ONCE = 3;

export class Announcer {
  constructor(element) {
    this.element = element;
    this.untold = [];
    this.states = new Map();
    this.newest = new Map(); // by node: the time of the last event that is known
    setInterval(() => this.tell(), EVERY_MS);
  }

  // `id`: of the camera's card.
  tellState(id, camera, state, why) {
    const before = this.states.get(id);
    this.states.set(id, state);
    if (before !== undefined && before !== state) {
      this.untold.push(`Camera ${camera}: ${state}${why ? `, ${why}` : ""}`);
    }
  }

  // `events`: the newest first. Those of cameras are announced as states; those before the page was opened are not.
  tellEvents(node, events) {
    const before = this.newest.get(node);
    this.newest.set(node, events[0]?.at ?? before ?? 0);
    if (before !== undefined) {
      const fresh = events.filter(({ at, camera }) => at > before && !camera);
      this.untold.push(...fresh.reverse().map(({ message }) => message));
    }
  }

  tell() {
    if (!this.untold.length) {
      return;
    }
    const more = this.untold.length - AT_ONCE;
    const words = this.untold.slice(0, AT_ONCE).join(". ");
    this.element.textContent = more > 0 ? `${words}. And ${more} more.` : words;
    this.untold = [];
  }
}
