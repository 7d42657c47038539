// A node: its cameras, its workers, its rails, what has happened there.

import { Card, STATES } from "./card.js";
import { ago, made, setText, show, timeOfDay } from "./text.js";

const OPEN = 2; // cameras, whose cards show all; with more of them, less is seen at a glance
const BAD = /down|lost|frozen|fail|refused|rejected|fallback|retired|stuck/;
const WORKERS = { serving: "Serving", standby: "Standby", starting: "Starting", off: "Standby, not started", down: "Down" };
export const LINKS = { live: "Live", silent: "Hub silent", lost: "View lost", starting: "Connecting" };
export const CHIPS = { live: "up", silent: "stale", lost: "down", starting: "starting" };

export class Node {
  constructor(template, cardTemplate, number, announcer) {
    this.element = template.content.firstElementChild.cloneNode(true);
    this.cardTemplate = cardTemplate;
    this.number = number;
    this.announcer = announcer;
    this.cards = new Map();
    this.node = null; // its last message
    this.heard = 0; // performance.now() of it
    this.events = null;
    this.changed = new Set();
  }

  part(className) {
    return this.element.querySelector(`.${className}`);
  }

  take(kind, message) {
    if (kind === "node") {
      this.node = message;
      this.heard = performance.now();
      this.changed.add("node");
    } else if (kind === "events") {
      this.announcer.tellEvents(this.number, message);
      this.events = message;
      this.changed.add("events");
    } else {
      const card = this.card(message.camera ?? message.name);
      card[kind] = message;
      if (kind === "camera") {
        this.announcer.tellState(card.element.id, message.name, STATES[message.state], message.why);
      }
    }
  }

  card(name) {
    if (!this.cards.has(name)) {
      const id = this.number ? `camera-${this.number}-${name}` : `camera-${name}`;
      const card = new Card(this.cardTemplate, name, id);
      this.cards.set(name, card);
      this.part("cards").append(card.element);
    }
    return this.cards.get(name);
  }

  // `link`: of the page to the view.
  linkState(link) {
    if (link !== "live" || !this.node) {
      return link === "live" ? "starting" : link;
    }
    return this.node.stale ? "silent" : "live";
  }

  // `isOneOfMany`: whether it needs its name above it.
  draw(link, isOneOfMany) {
    const state = this.linkState(link);
    this.drawTop(state, isOneOfMany);
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

  drawTop(state, isOneOfMany) {
    this.part("node-top").classList.toggle("unseen", !isOneOfMany); // a screen reader needs the heading
    setText(this.part("node-name"), this.node?.node ?? "Node");
    setText(this.part("node-address"), this.node?.address ?? "");
    this.nameRegions(isOneOfMany ? ` of ${this.node?.node ?? `node ${this.number + 1}`}` : "");
    setText(this.part("link"), LINKS[state]);
    this.part("link").dataset.state = CHIPS[state];
    this.element.classList.toggle("old", state !== "live");
    const words = state === "silent" ? silence(this.node) : "";
    show(this.part("notice"), words !== "");
    setText(this.part("notice"), words);
  }

  // For screen readers: regions of several nodes need names that differ.
  nameRegions(ofNode) {
    for (const region of this.element.querySelectorAll("[data-region]")) {
      const words = region.dataset.region + ofNode;
      if (region.ariaLabel !== words) {
        region.ariaLabel = words;
      }
    }
  }

  // The node's clock, in seconds since 1970.
  now() {
    return this.node?.at == null ? null : this.node.at + (performance.now() - this.heard) / 1000;
  }

  drawNode(node) {
    for (const [name, card] of this.cards) {
      if (!node.cameras.includes(name)) {
        card.element.remove();
        this.cards.delete(name);
      }
    }
    node.cameras.forEach((name) => this.card(name).settle(node.cameras.length <= OPEN));
    const inOrder = node.cameras.map((name) => this.card(name).element);
    const cards = this.part("cards");
    if (inOrder.some((element, place) => cards.children[place] !== element)) {
      cards.append(...inOrder);
    }
    drawWorkers(this.part("workers"), node.workers);
    drawPower(this.part("power"), this.part("no-power"), node);
  }
}

// Why what stands here may not be so any more, and what to do.
function silence({ address, away_s: away, refusal }) {
  if (refusal) {
    return `${address}: ${refusal}`;
  }
  return away === null
    ? `Nothing from ${address} yet. Is “edged run” up there?`
    : `The hub at ${address} has sent nothing for ${ago(away)}: this page shows its last state.`;
}

function drawWorkers(list, workers) {
  list.replaceChildren(
    ...workers.map(({ name, device, state, restarts }) => {
      const row = made("li", "worker");
      const chip = made("span", "chip", WORKERS[state] ?? state);
      chip.dataset.state = state === "serving" || state === "standby" ? "up" : state;
      const words = made("span", "words");
      words.append(made("b", "", name), " ", made("span", "quiet", device));
      if (restarts) {
        words.append(" ", made("span", "quiet", `· lost ${restarts === 1 ? "once" : `${restarts} times`}`));
      }
      row.append(words, chip);
      return row;
    }),
  );
}

function drawPower(list, nothing, { watts, method }) {
  const rails = Object.entries(watts);
  list.replaceChildren(
    ...rails.map(([rail, value]) => {
      const row = made("div", "");
      row.append(made("dt", "", rail), made("dd", "", `${value.toFixed(2)} W`));
      return row;
    }),
  );
  show(list, rails.length > 0);
  show(nothing, rails.length === 0 || method === "estimated");
  setText(nothing, rails.length ? "Estimated, not measured." : "Not measured (no power sensor; see “edged devices”)");
}

function drawEvents(list, nothing, events) {
  list.replaceChildren(
    ...events.map(({ at, event, message }) => {
      const isBad = BAD.test(event);
      const row = made("li", isBad ? "bad" : "");
      const time = made("time", "quiet", timeOfDay(at));
      time.dateTime = new Date(1000 * at).toISOString();
      row.append(time, made("span", "words", `${isBad ? "▲ " : ""}${message}`));
      return row;
    }),
  );
  show(list, events.length > 0);
  show(nothing, events.length === 0);
}

// What this view itself has disconnected or refused, so that its owner sees such attempts.
export function drawDisconnections(line, disconnections) {
  const reasons = Object.entries(disconnections).map(([reason, count]) => `${reason.replaceAll("_", " ")} ${count}`);
  setText(line, `This view disconnected or refused browsers: ${reasons.join(", ")}.`);
  show(line, reasons.length > 0);
}
