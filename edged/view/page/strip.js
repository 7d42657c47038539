// The labels of the last minute, a second each: runs of the same one are one piece, as long as they lasted.

import { made, setText } from "./text.js";

const COLOURS = 12;
const LISTED = 6;

const colours = new Map(); // label → number, the same for all cameras

export function colourOf(label) {
  if (!colours.has(label)) {
    colours.set(label, colours.size % COLOURS);
  }
  return colours.get(label);
}

export class Strip {
  constructor(strip, legend) {
    this.strip = strip;
    this.legend = legend;
    this.drawn = "";
  }

  // `labels`: of 60 seconds, the oldest first; null where there was none.
  draw(labels) {
    const drawn = JSON.stringify(labels);
    if (drawn === this.drawn) {
      return;
    }
    this.drawn = drawn;
    this.strip.replaceChildren(...runs(labels).map(piece));
    const sums = summed(labels);
    const words = sums.map(([label, seconds]) => `${label} for ${seconds} s`).join(", ");
    this.strip.ariaLabel = `Most frequent labels of the last minute: ${words || "none"}`;
    this.legend.replaceChildren(...sums.slice(0, LISTED).map((each) => entry(each)));
    if (sums.length > LISTED) {
      this.legend.append(made("span", "quiet", `and ${sums.length - LISTED} more`));
    }
    if (!sums.length) {
      setText(this.legend, "no predictions");
    }
  }
}

function runs(labels) {
  const found = [];
  for (const label of labels) {
    const last = found.at(-1);
    if (last?.label === label) {
      last.seconds += 1;
    } else {
      found.push({ label, seconds: 1 });
    }
  }
  return found;
}

function summed(labels) {
  const seconds = new Map();
  for (const label of labels) {
    if (label !== null) {
      seconds.set(label, (seconds.get(label) ?? 0) + 1);
    }
  }
  return [...seconds].sort((one, other) => other[1] - one[1]);
}

function piece({ label, seconds }) {
  const element = made("span", label === null ? "none" : `colour-${colourOf(label)}`);
  element.style.flexGrow = seconds;
  const hasRoom = label !== null && seconds > label.length; // the legend has its name in any case
  element.textContent = hasRoom ? label : "";
  return element;
}

// `unit`: of the time that a label lasted.
export function entry([label, time], unit = "s") {
  const element = made("span", "entry");
  element.append(made("i", `swatch colour-${colourOf(label)}`), `${label} `, made("span", "quiet", `${time} ${unit}`));
  return element;
}
