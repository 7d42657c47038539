// The crops of each label, a strip each. Those that are clicked can be deleted.

import { button, chosen, counted, heading, tile } from "./forms.js";
import { made, setText, show, timeOfDay } from "./text.js";

export class CropStrips {
  // `remove`: called with the crops to delete, each a label and a hash.
  constructor(remove) {
    this.element = made("section", "crops");
    this.element.ariaLabel = "Crops";
    this.button = button("", "small", () => remove(chosen(this.element).map(({ dataset }) => [dataset.label, dataset.sha256])));
  }

  draw(labels) {
    const words = "Click the crops that are wrong, then delete them. Those with a frame are held back: a version is judged by them.";
    this.element.replaceChildren(
      heading("Crops", "h3"),
      made("p", "quiet", words),
      ...labels.map((each) => this.strip(each)),
      this.button,
    );
    show(this.element, labels.length > 0);
    this.drawButton();
  }

  strip({ label, crops, newest }) {
    const element = made("div", "strip-of");
    const top = made("p", "");
    const more = crops > newest.length ? `, of which the newest ${newest.length} are shown` : "";
    top.append(made("b", "", label), " ", made("span", "quiet", counted(crops, "crop") + more));
    const strip = made("div", "strip-of-crops");
    strip.append(...newest.map((crop, place) => this.crop(label, crop, place)));
    element.append(top, strip);
    return element;
  }

  crop(label, { sha256, held_back: isHeldBack, at }, place) {
    const src = `/teach/crop/${encodeURIComponent(label)}/${sha256}.png`;
    const element = tile(isHeldBack ? "held-back" : "", src, `Crop ${place + 1} of ${label}`, () => this.drawButton());
    Object.assign(element.dataset, { label, sha256 });
    element.title = timeOfDay(at);
    return element;
  }

  drawButton() {
    const number = chosen(this.element).length;
    show(this.button, number > 0);
    setText(this.button, `Delete ${counted(number, "crop")}`);
  }
}
