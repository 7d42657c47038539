// The top of the page: whether all this is so now, and where to look.

import { STATES } from "./card.js";
import { CHIPS, LINKS } from "./node.js";
import { made, setText, show } from "./text.js";

const BAD = ["down", "frozen"];
const WORST_FIRST = ["lost", "silent", "starting", "live"];

export class Header {
  constructor(document) {
    this.document = document;
    this.part = (id) => document.getElementById(id);
    this.bad = "";
  }

  // `link`: to the view. `nodes`: all of the page.
  draw(link, nodes, isPaused) {
    const states = nodes.map((node) => node.linkState(link));
    const state = WORST_FIRST.find((each) => states.includes(each)) ?? (link === "live" ? "starting" : link);
    this.part("link").dataset.state = CHIPS[state];
    setText(this.part("link"), LINKS[state]);
    const name = nodes.length > 1 ? `${nodes.length} nodes` : (nodes[0]?.node?.node ?? "");
    setText(this.part("node"), name);
    this.drawNotice(link, isPaused);
    const cards = nodes.flatMap((node) => [...node.cards.values()]);
    const live = nodes.filter((node) => node.linkState(link) === "live").flatMap((node) => [...node.cards.values()]);
    const bad = live.filter((card) => BAD.includes(card.camera?.state));
    const up = live.filter((card) => card.camera?.state === "up").length;
    setText(this.part("summary"), live.length ? `${up} of ${cards.length} cameras up` : "");
    this.drawBad(bad.map((card) => [card.element.id, card.name, card.camera.state]));
    const mark = bad.length ? `(${bad.length} down) ` : state === "live" || !name ? "" : "(no news) ";
    this.document.title = `${mark}edged${name ? ` · ${name}` : ""}`; // seen on another tab too
  }

  drawNotice(link, isPaused) {
    const lost = "The view does not answer: what stands here is old. It comes back by itself once it can.";
    const words = isPaused ? "Paused: what stands here is as it was." : link === "lost" ? lost : "";
    show(this.part("notice"), words !== "");
    setText(this.part("notice"), words);
  }

  // Leads there among many cards. As long as it says the same, it stays, with the focus on it.
  drawBad(bad) {
    const words = JSON.stringify(bad);
    if (words !== this.bad) {
      this.bad = words;
      this.part("bad").replaceChildren(...bad.map(linkTo));
    }
  }
}

function linkTo([id, name, state]) {
  const element = made("a", "", `${name} ${STATES[state].toLowerCase()}`);
  element.href = `#${id}`;
  return element;
}
