// The whole page: keeps the newest of all that the view says, and draws it when it is told to.

import { Announcer } from "./announcer.js";
import { Card, STATES } from "./card.js";
import { drawEvents, drawPower, drawWorkers } from "./node.js";
import { ago, setText, show } from "./text.js";

const OPEN = 2; // cameras, whose cards show all at once: with more of them, less is seen at a glance
const LINKS = { live: "Live", silent: "Hub silent", lost: "View lost", starting: "Connecting" };

export class Page {
  constructor(document) {
    this.part = (id) => document.getElementById(id);
    this.cards = new Map();
    this.node = null;
    this.nodeHeard = 0; // performance.now() of its last message
    this.events = null;
    this.changed = new Set();
    this.link = "starting";
    this.announcer = new Announcer(this.part("announcer"));
    this.isPaused = false;
    this.part("pause").addEventListener("click", () => this.setPaused(!this.isPaused));
  }

  setPaused(isPaused) {
    this.isPaused = isPaused;
    this.part("pause").ariaPressed = String(isPaused);
    document.body.classList.toggle("paused", isPaused);
    this.draw();
  }

  setLink(link) {
    this.link = link;
  }

  take(kind, message) {
    if (kind === "node") {
      this.node = message;
      this.nodeHeard = performance.now();
      this.changed.add("node");
    } else if (kind === "events") {
      this.announcer.tellEvents(message);
      this.events = message;
      this.changed.add("events");
    } else {
      const card = this.card(message.camera ?? message.name);
      card[kind] = message;
      if (kind === "camera") {
        this.announcer.tellState(message.name, STATES[message.state], message.why);
      }
    }
  }

  card(name) {
    if (!this.cards.has(name)) {
      const card = new Card(this.part("card"), name, (this.node?.cameras.length ?? 1) <= OPEN);
      this.cards.set(name, card);
      document.querySelector(".cards").append(card.element);
    }
    return this.cards.get(name);
  }

  draw() {
    const state = this.linkState();
    this.drawLink(state);
    if (this.isPaused) {
      return;
    }
    if (this.changed.delete("node")) {
      this.drawNode(this.node);
    }
    if (this.changed.delete("events")) {
      drawEvents(this.part("events"), this.part("no-events"), this.events);
    }
    const at = this.now();
    for (const card of this.cards.values()) {
      card.draw(at, state === "live");
    }
  }

  linkState() {
    if (this.link !== "live" || !this.node) {
      return this.link === "live" ? "starting" : this.link;
    }
    return this.node.stale ? "silent" : "live";
  }

  // The node's clock, in seconds since 1970.
  now() {
    return this.node?.at == null ? null : this.node.at + (performance.now() - this.nodeHeard) / 1000;
  }

  drawNode(node) {
    setText(this.part("node"), node.node ?? "");
    for (const [name, card] of this.cards) {
      if (!node.cameras.includes(name)) {
        card.element.remove();
        this.cards.delete(name);
      }
    }
    node.cameras.forEach((name) => this.card(name));
    const inOrder = node.cameras.map((name) => this.card(name).element);
    const cards = document.querySelector(".cards");
    if (inOrder.some((element, place) => cards.children[place] !== element)) {
      cards.append(...inOrder);
    }
    drawWorkers(this.part("workers"), node.workers);
    drawPower(this.part("power"), this.part("no-power"), node);
  }

  drawLink(state) {
    const chip = this.part("link");
    chip.dataset.state = { live: "up", silent: "stale", lost: "down" }[state] ?? state;
    setText(chip, LINKS[state]);
    const notice = this.notice(state);
    show(this.part("notice"), notice !== "");
    setText(this.part("notice"), notice);
    document.body.classList.toggle("old", state !== "live");
    this.drawSummary(state === "live");
  }

  // For who looks at a glance, or at the title of another tab.
  drawSummary(isLive) {
    const states = [...this.cards.values()].map((card) => card.camera?.state);
    const up = states.filter((each) => each === "up").length;
    const bad = states.filter((each) => each === "down" || each === "frozen").length;
    setText(this.part("summary"), isLive && states.length ? `${up} of ${states.length} cameras up` : "");
    const mark = isLive ? (bad ? `(${bad} down) ` : "") : this.node ? "(no news) " : "";
    document.title = `${mark}edged${this.node?.node ? ` · ${this.node.node}` : ""}`;
  }

  notice(state) {
    if (this.isPaused) {
      return "Paused: what stands here is as it was.";
    }
    if (state === "lost") {
      return "The view does not answer: what stands here is old. It comes back by itself once it can.";
    }
    if (state !== "silent") {
      return "";
    }
    const { address, away_s: away, refusal } = this.node;
    if (refusal) {
      return `${address}: ${refusal}`;
    }
    return away === null
      ? `Nothing from ${address} yet. Is “edged run” up there?`
      : `The hub at ${address} has said nothing for ${ago(away)}: what stands here is old.`;
  }
}
