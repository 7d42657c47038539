// The node: its workers, its rails, what has happened there.

import { made, setText, show, timeOfDay } from "./text.js";

const BAD = /down|lost|frozen|fail|refused|rejected|fallback|retired|stuck/;
const WORKERS = { serving: "Serving", standby: "Standby", starting: "Starting", off: "Off", down: "Down" };

export function drawWorkers(list, workers) {
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

export function drawPower(list, nothing, { watts, method }) {
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
  setText(nothing, rails.length ? "Estimated, not measured." : "Not measured: “edged devices” says why.");
}

export function drawEvents(list, nothing, events) {
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
