// The picture of a camera, with the label of its own frame: both change at once, when the picture is there.

import { drawBoxes, inWords } from "./boxes.js";
import { ago, percent, setText, show } from "./text.js";

const OLD_S = 5;
const ABSENT = {
  off: (name) =>
    `No pictures: snapshots are off. Put “snapshot: {}” under cameras.${name} in the config, then run “edged reload”.`,
  awaited: () => "The first picture has yet to come.",
};

export class Shot {
  constructor(figure, absent, name) {
    this.figure = figure;
    this.absent = absent;
    this.name = name;
    this.shown = null;
    this.tried = "";
    this.loading = false;
    this.isVisible = true;
    new IntersectionObserver(([entry]) => (this.isVisible = entry.isIntersecting)).observe(figure.parentElement);
  }

  // `isOn`: whether the config asks for pictures. `at`: what the node's clock shows now; null: nobody knows.
  draw(picture, isOn, at) {
    show(this.figure, isOn && this.shown !== null);
    show(this.absent, !isOn || this.shown === null);
    setText(this.absent, isOn ? ABSENT.awaited() : ABSENT.off(this.name));
    this.drawAge(at);
    if (picture && picture.url !== this.tried && !this.loading && this.isVisible) {
      this.load(picture);
    }
  }

  drawAge(at) {
    if (this.shown) {
      const age = at === null ? 0 : at - this.shown.captured_at;
      const words = age > OLD_S ? `, ${ago(age)} old` : "";
      setText(this.figure.querySelector(".frame"), `frame ${this.shown.frame}${words}`);
    }
  }

  // One at a time: a browser that is slow leaves out what came meanwhile.
  async load(picture) {
    this.loading = true;
    this.tried = picture.url; // once: where it cannot be had any more, a newer one can
    const image = new Image(picture.width, picture.height);
    image.alt = `Camera ${this.name}`;
    image.src = picture.url;
    try {
      await image.decode();
      this.put(image, picture);
    } catch {
      // it has gone meanwhile: the next one comes
    } finally {
      this.loading = false;
    }
  }

  put(image, picture) {
    this.shown = picture;
    image.dataset.frame = picture.frame;
    this.figure.querySelector("img").replaceWith(image);
    drawBoxes(this.figure.querySelector(".boxes"), picture.boxes ?? []);
    const best = picture.boxes ? null : picture.top?.[0];
    const label = picture.boxes ? inWords(picture.boxes) : (best?.label ?? "not predicted");
    setText(this.figure.querySelector(".label"), label);
    setText(this.figure.querySelector(".score"), best ? percent(best.score) : "");
    this.drawAge(null);
  }
}
