// Where the time of a frame went: a row a stage, each where the one before ended.

import { made, milliseconds, setText } from "./text.js";

const STAGES = ["preprocess", "wait", "upload", "forward", "download", "publish"]; // total is their sum

export class Waterfall {
  constructor(details) {
    this.details = details;
    this.total = details.querySelector(".total");
    this.capture = row("capture");
    this.rows = new Map(STAGES.map((stage) => [stage, row(stage)]));
    details.querySelector("tbody").append(this.capture.element, ...[...this.rows.values()].map((each) => each.element));
    this.capture.element.classList.add("before");
    this.capture.element.title = "The read of the picture; it is over before its age begins";
  }

  draw(seconds) {
    setText(this.total, milliseconds(seconds.total));
    if (!this.details.open) {
      return;
    }
    setText(this.capture.time, milliseconds(seconds.capture));
    const total = Math.max(seconds.total, 1e-9);
    let begun = 0;
    for (const [stage, { bar, time }] of this.rows) {
      setText(time, milliseconds(seconds[stage]));
      bar.style.marginInlineStart = `${(100 * begun) / total}%`;
      bar.style.inlineSize = `${(100 * seconds[stage]) / total}%`;
      begun += seconds[stage];
    }
  }
}

function row(stage) {
  const element = document.createElement("tr");
  const name = made("th", "", stage);
  name.scope = "row";
  const track = made("td", "track");
  const bar = made("span", `bar ${stage}`);
  bar.ariaHidden = "true";
  track.append(bar);
  const time = made("td", "time");
  element.append(name, track, time);
  return { element, bar, time };
}
