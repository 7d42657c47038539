// The picture of a camera, with the label of its own frame: both change at once, when the picture is there.

import { percent, setText, show } from "./text.js";

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
    this.wanted = null;
    this.shown = null;
    this.loading = false;
    this.isVisible = true;
    new IntersectionObserver(([entry]) => (this.isVisible = entry.isIntersecting)).observe(figure.parentElement);
  }

  draw(picture, isOn) {
    this.wanted = picture;
    show(this.figure, this.shown !== null);
    show(this.absent, this.shown === null);
    setText(this.absent, isOn ? ABSENT.awaited() : ABSENT.off(this.name));
    if (picture && picture.url !== this.shown?.url && !this.loading && this.isVisible) {
      this.load(picture);
    }
  }

  // One at a time: a browser that is slow leaves out what came meanwhile.
  async load(picture) {
    this.loading = true;
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
    const best = picture.top?.[0];
    setText(this.figure.querySelector(".label"), best ? best.label : "not predicted");
    setText(this.figure.querySelector(".score"), best ? percent(best.score) : "");
    setText(this.figure.querySelector(".frame"), `frame ${picture.frame}`);
    show(this.figure, true);
    show(this.absent, false);
  }
}
