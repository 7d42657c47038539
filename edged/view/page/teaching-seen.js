// Pictures that the cameras have sent already, to be labelled: many at once, by a click or a digit.

import { button, chosen, counted, heading, tile } from "./forms.js";
import { made, percent, setText, show, timeOfDay } from "./text.js";

const LISTS = { least_certain: "Least certain", last: "Last" };
const NONE = "Nothing was seen yet: pictures come from cameras that have “snapshot: {}” in the config.";

export class SeenPictures {
  // `label`: called with the numbers of pictures and their label. `renew`: called to draw what came meanwhile.
  constructor(label, renew) {
    this.label = label;
    this.renew = renew;
    this.seen = { last: [], least_certain: [] };
    this.labels = [];
    this.list = "least_certain";
    this.element = made("section", "seen-before");
    this.element.ariaLabel = "Label what was seen";
    this.element.addEventListener("keydown", (event) => this.press(event));
  }

  // `labels`: names, of which each of the first nine has a digit.
  draw(seen, labels) {
    this.seen = seen;
    this.labels = labels;
    this.redraw();
  }

  redraw() {
    const hadFocus = this.element.contains(document.activeElement);
    const pictures = this.seen[this.list];
    const words = "Choose pictures, then their label, also by its digit. They become crops, as if held before the camera now.";
    const tiles = made("div", "seen-tiles");
    tiles.append(...pictures.map((each) => this.picture(each)));
    this.element.replaceChildren(
      heading("Label what was seen", "h3"),
      made("p", "quiet", pictures.length ? words : NONE),
      this.lists(),
      tiles,
      this.labelButtons(),
    );
    this.drawButtons();
    if (hadFocus) {
      this.element.querySelector(".tile, button")?.focus();
    }
  }

  lists() {
    const element = made("p", "lists");
    for (const [name, words] of Object.entries(LISTS)) {
      const choice = button(words, "small", () => {
        this.list = name;
        this.redraw();
      });
      choice.ariaPressed = String(name === this.list);
      element.append(choice);
    }
    element.append(button("Look again", "small", this.renew));
    return element;
  }

  picture({ number, camera, at, label, score }) {
    const answer = label === null ? "not predicted" : `${label} ${percent(score)}`;
    const name = `${camera} at ${timeOfDay(at)}: ${answer}`;
    const element = tile("", `/teach/seen/${number}.jpg`, name, () => this.drawButtons());
    element.dataset.number = number;
    element.title = name;
    element.append(made("span", "", answer));
    return element;
  }

  labelButtons() {
    const form = made("form", "label-buttons");
    this.buttons = this.labels.map((label, place) => {
      const element = button(place < 9 ? `${place + 1} ${label}` : label, "", () => this.put(label));
      element.ariaKeyShortcuts = place < 9 ? String(place + 1) : "";
      return element;
    });
    this.input = made("input", "");
    Object.assign(this.input, { placeholder: "another label", ariaLabel: "Another label", maxLength: 64, required: true });
    this.input.pattern = "[^\\-].*";
    this.buttons.push(button("Label", "", null, "submit"));
    form.append(...this.buttons.slice(0, -1), this.input, this.buttons.at(-1), (this.number = made("span", "quiet")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.put(this.input.value);
    });
    show(form, this.seen[this.list].length > 0);
    return form;
  }

  drawButtons() {
    const { length: number } = chosen(this.element);
    for (const each of this.buttons) {
      each.disabled = number === 0;
    }
    setText(this.number, number ? `${counted(number, "picture")} chosen` : "");
  }

  press(event) {
    const label = this.labels[Number(event.key) - 1];
    if (label === undefined || event.target === this.input || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    event.preventDefault();
    if (!chosen(this.element).length && event.target.matches(".tile")) {
      event.target.ariaPressed = "true";
    }
    this.put(label);
  }

  put(label) {
    const numbers = chosen(this.element).map(({ dataset }) => Number(dataset.number));
    if (numbers.length) {
      this.label(numbers, label);
    }
  }
}
