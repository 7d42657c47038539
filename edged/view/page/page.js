// The whole page: keeps the newest state that the view sends, and draws it on request.

import { Announcer } from "./announcer.js";
import { Card, STATES } from "./card.js";
import { Header } from "./header.js";
import { drawDisconnections, drawEvents, drawPower, drawWorkers } from "./node.js";

const OPEN = 2; // cameras, whose cards show all at once: with more of them, less is seen at a glance

export class Page {
  constructor(document) {
    this.part = (id) => document.getElementById(id);
    this.cards = new Map();
    this.node = null;
    this.nodeHeard = 0; // performance.now() of its last message
    this.events = null;
    this.changed = new Set();
    this.link = "starting";
    this.header = new Header(document);
    this.announcer = new Announcer(this.part("announcer"));
    this.isPaused = false;
    this.part("pause").addEventListener("click", () => this.setPaused(!this.isPaused));
  }

  setPaused(isPaused) {
    this.isPaused = isPaused;
    this.part("pause").ariaPressed = String(isPaused);
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
    this.header.draw(state, this.node, [...this.cards.values()], this.isPaused);
    if (this.isPaused || document.hidden) {
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
    drawDisconnections(this.part("disconnections"), node.disconnections);
    drawPower(this.part("power"), this.part("no-power"), node);
  }
}
