// The last hour of a camera, a bar a minute: as high as it had predictions, in the colour of its most frequent label.

import { colourOf, entry } from "./strip.js";
import { count, made, milliseconds, percent, setText, show, timeOfDay } from "./text.js";

const MINUTES = 60;
const LISTED = 4;

export class Hour {
  constructor(card) {
    this.part = (className) => card.querySelector(`.${className}`);
    this.drawn = "";
  }

  // `past`: minutes that are over, each [number, predictions, label, its share, median in seconds].
  // `at`: what the node's clock shows now; null: nobody knows.
  draw(past, at) {
    const now = at === null ? null : Math.floor(at / 60);
    const drawn = JSON.stringify([now, past]);
    if (drawn === this.drawn) {
      return;
    }
    this.drawn = drawn;
    const minutes = new Map(past.map((minute) => [minute[0], minute]));
    const numbers = now === null ? [] : Array.from({ length: MINUTES }, (_, place) => now - MINUTES + place);
    const most = Math.max(1, ...past.map(([, predictions]) => predictions));
    this.part("hour").replaceChildren(...numbers.map((number) => bar(minutes.get(number), most)));
    const total = past.reduce((sum, [, predictions]) => sum + predictions, 0);
    setText(this.part("hour-sum"), total ? `${count(total)} predictions` : "no predictions yet");
    const sums = summed(past);
    this.part("hour-legend").replaceChildren(...sums.slice(0, LISTED).map((each) => entry(each, "min")));
    if (sums.length > LISTED) {
      this.part("hour-legend").append(made("span", "quiet", `and ${sums.length - LISTED} more`));
    }
    show(this.part("hour-axis"), numbers.length > 0);
    if (numbers.length) {
      setText(this.part("hour-from"), timeOfDay(60 * numbers[0]).slice(0, 5));
    }
    const words = sums.map(([label, times]) => `${label} for ${times} min`).join(", ");
    this.part("hour").ariaLabel = `Most frequent label of each minute of the last hour: ${words || "none"}`;
  }
}

function summed(past) {
  const times = new Map();
  for (const [, , label] of past) {
    times.set(label, (times.get(label) ?? 0) + 1);
  }
  return [...times].sort((one, other) => other[1] - one[1]);
}

function bar(minute, most) {
  const element = made("span", "minute");
  if (minute) {
    const [number, predictions, label, share, median] = minute;
    const colour = made("i", `colour-${colourOf(label)}`);
    colour.style.blockSize = `${Math.max(6, (100 * predictions) / most)}%`;
    element.append(colour);
    const time = timeOfDay(60 * number).slice(0, 5);
    element.title = `${time}: ${count(predictions)} predictions, ${percent(share)} ${label}, median ${milliseconds(median)}`;
  }
  return element;
}
