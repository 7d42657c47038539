// One camera: what is known of it, as a card.

import { Hour } from "./hour.js";
import { Shot } from "./shot.js";
import { Strip } from "./strip.js";
import { ago, count, joules, made, milliseconds, percent, setText, show } from "./text.js";
import { Waterfall } from "./waterfall.js";

const LATE_S = 3;
export const STATES = {
  up: "Up",
  down: "Down",
  frozen: "Frozen",
  stale: "No news",
  starting: "Starting",
  ended: "Ended",
};

export class Card {
  constructor(template, name, id) {
    this.element = template.content.firstElementChild.cloneNode(true);
    this.element.dataset.camera = name;
    this.element.id = id;
    this.camera = this.prediction = this.picture = this.history = null; // the newest of each
    this.name = name;
    setText(this.part("name"), name);
    this.shot = new Shot(this.part("shot"), this.part("no-shot"), name);
    this.strip = new Strip(this.part("strip"), this.part("legend"));
    this.hour = new Hour(this.element);
    this.waterfall = new Waterfall(this.part("times"));
    this.part("times").addEventListener("toggle", () => this.prediction && this.waterfall.draw(this.prediction.seconds));
    this.isSettled = false;
    show(this.part("known"), false);
  }

  // Sets, the first time only, whether it shows where the time of a frame goes: then the viewer decides.
  settle(isOpen) {
    if (!this.isSettled) {
      this.isSettled = true;
      this.part("times").open = isOpen;
    }
  }

  part(className) {
    return this.element.querySelector(`.${className}`);
  }

  // `at`: what the node's clock shows now; null where nobody knows. `isLive`: whether all this is as it is now.
  draw(at, isLive) {
    const state = isLive ? (this.camera?.state ?? "starting") : "stale";
    this.element.dataset.state = state;
    this.part("state").dataset.state = state;
    setText(this.part("state"), STATES[state]);
    this.shot.draw(this.picture, this.camera?.snapshots ?? true, at);
    if (this.camera) {
      this.drawCamera(this.camera, state);
    }
    this.hour.draw(this.history?.minutes ?? [], at);
    if (this.prediction) {
      show(this.part("known"), true);
      this.drawPrediction(this.prediction, at);
    }
  }

  drawCamera(camera, state) {
    const why = state === "up" ? "" : camera.why;
    show(this.part("why"), why !== "");
    setText(this.part("why"), why);
    setText(this.part("rate"), state === "up" || state === "frozen" ? `${camera.fps.toFixed(1)} fps` : "");
    this.strip.draw(camera.strip);
    setText(this.part("median"), milliseconds(camera.median_s));
    setText(this.part("p99"), milliseconds(camera.p99_s));
    setText(this.part("right"), camera.right === null ? "–" : percent(camera.right));
    show(this.part("right").parentElement, camera.right !== null);
    setText(this.part("dropped"), dropped(camera));
  }

  drawPrediction(prediction, at) {
    setText(this.part("number"), `${count(prediction.frame)}`);
    const age = at === null ? null : Math.max(0, at - prediction.captured_at);
    setText(this.part("age"), age === null ? "–" : ago(age));
    this.part("age").classList.toggle("late", age !== null && age > LATE_S);
    setText(this.part("energy"), energy(prediction.energy, this.camera?.joules ?? null));
    setText(this.part("model"), answeredBy(prediction.model));
    this.part("model").title = `SHA-256 ${prediction.model.sha256}, on ${prediction.model.device}`;
    this.drawLabels(prediction.top);
    this.waterfall.draw(prediction.seconds);
  }

  drawLabels(top) {
    const list = this.part("labels");
    while (list.children.length > top.length) {
      list.lastElementChild.remove();
    }
    while (list.children.length < top.length) {
      const row = made("li", "");
      row.append(made("span", "label"), made("span", "track"), made("span", "score"));
      row.querySelector(".track").append(made("span", "bar"));
      row.querySelector(".track").ariaHidden = "true";
      list.append(row);
    }
    top.forEach(({ label, score }, place) => {
      const row = list.children[place];
      setText(row.querySelector(".label"), label);
      setText(row.querySelector(".score"), percent(score));
      row.querySelector(".bar").style.inlineSize = `${Math.min(100, Math.max(0, 100 * score))}%`;
    });
  }
}

function answeredBy({ name, sha256, precision, worker, random_weights: isForTiming }) {
  const words = `Answered by ${name} (${sha256.slice(0, 8)}), ${precision}, worker ${worker}`;
  return isForTiming ? `${words}: random weights, for timing only` : words;
}

function energy({ joules: each, method }, recent) {
  if (method === "none") {
    return "not measured";
  }
  const value = recent ?? each;
  const words = value === null ? "–" : joules(value);
  return method === "estimated" ? `${words}, estimated` : words;
}

function dropped({ captured, dropped: sums, dropping }) {
  const all = Object.values(sums).reduce((sum, each) => sum + each, 0);
  if (!all) {
    return `Nothing dropped of ${count(captured)} frames`;
  }
  const reasons = Object.entries(sums)
    .filter(([, frames]) => frames)
    .sort((one, other) => other[1] - one[1])
    .map(([reason, frames]) => `${reason} ${count(frames)}${dropping[reason] ? ` (${dropping[reason]}/s)` : ""}`);
  return `Dropped ${count(all)} of ${count(captured)} frames: ${reasons.join(", ")}`;
}
