// What a job of teaching does, and what came of it, in words.

import { made, percent } from "./text.js";

const RUNNING = {
  record: ({ label, camera }) => `Recording “${label}” from ${camera}:`,
  train: () => "Training:",
  shadow: ({ version }) => `Version ${version.slice(0, 12)} answers in shadow:`,
  promote: ({ version }) => `Promoting ${version.slice(0, 12)}:`,
  rollback: () => "Rolling back:",
};
const DONE = {
  record: ({ label, new: fresh, stored_before: same, crops }) =>
    `Recorded “${label}”: ${fresh} new crops${same ? `, ${same} stored before` : ""}; ${crops} in all.`,
  train: ({ sha256, trained_on: crops, train_s: seconds, held_back: judged, before }) =>
    `Version ${sha256.slice(0, 12)}, trained on ${crops} crops in ${seconds.toFixed(1)} s. ` +
    (judged?.crops ? `Right on held-back crops: ${share(judged)}; the current model: ${share(before)}.` : "Not evaluated."),
  shadow: ({ frames, agree }) => `${frames} frames, both models agree on ${agree}.`,
  promote: ({ message }) => `${capital(message)}.`,
  rollback: ({ message }) => `${capital(message)}.`,
};

function share({ right, crops }) {
  return crops ? `${percent(right / crops)} of ${crops}` : "unknown";
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function wordsOf(job) {
  const progress = job.progress.replace(`${job.label}: `, "");
  return `${RUNNING[job.action](job)} ${progress || "starting …"} (${job.seconds.toFixed(0)} s)`;
}

// The elements that show an ended job.
export function draw({ action, result, error, warnings }) {
  const shown = warnings.map((each) => made("p", "warning", `▲ ${each}`));
  if (error) {
    shown.push(made("p", "problem", `✕ ${action}: ${error.replace("; --force promotes it anyway", "")}`));
  }
  if (result && !(error && action === "promote")) {
    shown.push(made("p", "done", DONE[action](result)));
  }
  if (action === "shadow" && result?.pairs?.length) {
    shown.push(pairs(result));
  }
  return shown;
}

function pairs({ pairs: found, frames }) {
  const table = made("table", "pairs");
  table.append(made("caption", "unseen", "Answers now and in shadow"));
  table.append(row("th", ["Answer", "In shadow", "Frames"]));
  for (const { answer, in_shadow: other, frames: times } of found.slice(0, 8)) {
    table.append(row("td", [answer, other, `${times} (${percent(times / frames)})`]));
  }
  return table;
}

function row(tag, cells) {
  const element = made("tr", "");
  element.append(...cells.map((each) => made(tag, "", each)));
  return element;
}
