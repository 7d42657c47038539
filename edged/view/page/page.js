// The whole page: one node or several, of which the view sends the newest state; it is drawn on request.

import { Announcer } from "./announcer.js";
import { Header } from "./header.js";
import { drawDisconnections, Node } from "./node.js";
import { Teaching } from "./teaching.js";

export class Page {
  constructor(document) {
    this.part = (id) => document.getElementById(id);
    this.nodes = new Map(); // by number
    this.link = "starting";
    this.header = new Header(document);
    this.announcer = new Announcer(this.part("announcer"));
    this.teaching = new Teaching(this.part("teaching"), this.part("teach"));
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

  // `number`: of the node.
  take(number, kind, message) {
    if (!this.nodes.has(number)) {
      this.nodes.set(number, new Node(this.part("node-template"), this.part("card"), number, this.announcer));
      const inOrder = [...this.nodes.keys()].sort((one, other) => one - other);
      this.part("nodes").append(...inOrder.map((each) => this.nodes.get(each).element));
    }
    this.nodes.get(number).take(kind, message);
    if (kind === "node") {
      drawDisconnections(this.part("disconnections"), message.disconnections);
      if (message.is_taught) {
        this.teaching.offer();
      }
    }
  }

  draw() {
    const nodes = [...this.nodes.values()];
    this.header.draw(this.link, nodes, this.isPaused);
    if (this.isPaused || document.hidden) {
      return;
    }
    for (const node of nodes) {
      node.draw(this.link, nodes.length > 1);
    }
  }
}
