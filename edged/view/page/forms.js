// What the forms of teaching are made of.

import { made } from "./text.js";

export function heading(text, tag = "h2") {
  return made(tag, "title", text);
}

export function button(text, className, act, type = "button") {
  const element = made("button", className, text);
  element.type = type;
  if (act) {
    element.addEventListener("click", act);
  }
  return element;
}

export function labelled(words, input) {
  const element = made("label", "", words);
  element.append(input);
  return element;
}

export function field(words, type, autocomplete) {
  const input = made("input", "");
  Object.assign(input, { type, autocomplete, required: true });
  return [input, labelled(words, input)];
}

// A picture that can be chosen, by a click or with the space bar. `changed`: called with it.
export function tile(className, src, name, changed) {
  const element = button("", `tile ${className}`, () => {
    element.ariaPressed = String(element.ariaPressed !== "true");
    changed(element);
  });
  element.ariaPressed = "false";
  element.ariaLabel = name;
  const image = made("img", "");
  Object.assign(image, { alt: "", loading: "lazy", src });
  element.append(image);
  return element;
}

export function chosen(element) {
  return [...element.querySelectorAll(".tile[aria-pressed=true]")];
}

export function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
