// The boxes of a detector, drawn over the picture of their own frame.

import { made, setText } from "./text.js";

// Colors by class, far from each other and light enough for the dark and the light parts of a picture.
const COLORS = ["#ff66c4", "#4ade80", "#38bdf8", "#fb923c", "#a78bfa", "#facc15", "#f87171", "#2dd4bf"];

export function drawBoxes(element, boxes) {
  while (element.children.length > boxes.length) {
    element.lastElementChild.remove();
  }
  while (element.children.length < boxes.length) {
    const frame = made("div", "box");
    frame.append(made("span", ""));
    element.append(frame);
  }
  boxes.forEach(({ label, index, score, track, box: [left, top, right, bottom] }, place) => {
    const frame = element.children[place];
    setText(frame.firstElementChild, `${track === null ? "" : `#${track} `}${label} ${Math.round(100 * score)} %`);
    frame.classList.toggle("from-right", left > 0.6); // so that a caption wider than its box stays in the picture
    frame.style.borderColor = COLORS[index % COLORS.length];
    frame.style.left = `${100 * left}%`;
    frame.style.top = `${100 * top}%`;
    frame.style.width = `${100 * (right - left)}%`;
    frame.style.height = `${100 * (bottom - top)}%`;
  });
}

// What is found, for those who do not see the boxes: “2 × person, car”.
export function inWords(boxes) {
  const counts = new Map();
  boxes.forEach(({ label }) => counts.set(label, (counts.get(label) ?? 0) + 1));
  return [...counts].map(([label, count]) => (count > 1 ? `${count} × ${label}` : label)).join(", ") || "nothing found";
}
