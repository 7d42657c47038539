// Hears the view and draws what it says, never more often than is good.

import { connect } from "./connection.js";
import { Page } from "./page.js";

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const page = new Page(document);

connect({
  take: (number, what, message) => page.take(number, what, message),
  live: () => page.setLink("live"),
  lost: () => page.setLink("lost"),
});

function draw() {
  page.draw();
  setTimeout(draw, calm.matches ? 1000 : 100);
}

document.addEventListener("visibilitychange", () => page.draw());
draw();
