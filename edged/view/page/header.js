// The top of the page: whether all this is so now, and where to look.

import { STATES } from "./card.js";
import { ago, made, setText, show } from "./text.js";

const LINKS = { live: "Live", silent: "Hub silent", lost: "View lost", starting: "Connecting" };
const CHIPS = { live: "up", silent: "stale", lost: "down", starting: "starting" };
const BAD = ["down", "frozen"];

export class Header {
  constructor(document) {
    this.document = document;
    this.part = (id) => document.getElementById(id);
    this.bad = "";
  }

  // `link`: one of LINKS. `node`: its last message, or null. `cards`: of all cameras.
  draw(link, node, cards, isPaused) {
    const isLive = link === "live";
    this.part("link").dataset.state = CHIPS[link];
    setText(this.part("link"), LINKS[link]);
    setText(this.part("node"), node?.node ?? "");
    this.document.body.classList.toggle("old", !isLive);
    const words = isPaused ? "Paused: what stands here is as it was." : notice(link, node);
    show(this.part("notice"), words !== "");
    setText(this.part("notice"), words);
    const bad = cards.filter((card) => isLive && BAD.includes(card.camera?.state));
    const up = cards.filter((card) => card.camera?.state === "up").length;
    setText(this.part("summary"), isLive && cards.length ? `${up} of ${cards.length} cameras up` : "");
    this.drawBad(bad.map((card) => [card.name, card.camera.state]));
    const mark = isLive ? (bad.length ? `(${bad.length} down) ` : "") : node ? "(no news) " : "";
    this.document.title = `${mark}edged${node?.node ? ` · ${node.node}` : ""}`; // seen on another tab too
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

function linkTo([name, state]) {
  const element = made("a", "", `${name} ${STATES[state].toLowerCase()}`);
  element.href = `#camera-${name}`;
  return element;
}

// Why what stands here may not be so any more, and what to do.
function notice(link, node) {
  if (link === "lost") {
    return "The view does not answer: what stands here is old. It comes back by itself once it can.";
  }
  if (link !== "silent") {
    return "";
  }
  const { address, away_s: away, refusal } = node;
  if (refusal) {
    return `${address}: ${refusal}`;
  }
  return away === null
    ? `Nothing from ${address} yet. Is “edged run” up there?`
    : `The hub at ${address} has sent nothing for ${ago(away)}: this page shows its last state.`;
}
