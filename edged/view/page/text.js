// Numbers for people, and the few ways in which the page is changed: as text, never as markup.

// What would change the direction of the text around it, or shows as nothing, is seen as �.
const HIDDEN = /[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu;

function plain(text) {
  return String(text).replace(HIDDEN, "\ufffd");
}

export function setText(element, text) {
  const shown = plain(text);
  if (element.textContent !== shown) {
    element.textContent = shown;
  }
}

export function show(element, isShown) {
  element.hidden = !isShown;
}

// An element of a tag and class that holds text.
export function made(tag, className, text = "") {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = plain(text);
  return element;
}

export function percent(share) {
  const value = 100 * share;
  return `${value >= 99.95 || value < 0.05 ? value.toFixed(0) : value.toFixed(1)} %`;
}

export function milliseconds(seconds) {
  if (seconds === null || seconds === undefined) {
    return "–";
  }
  const value = 1000 * seconds;
  return `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ms`;
}

// How long ago, without flicker where that is a moment.
export function ago(seconds) {
  if (seconds < 10) {
    return `${seconds.toFixed(1)} s`;
  }
  if (seconds < 120) {
    return `${Math.round(seconds)} s`;
  }
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

export function joules(value) {
  if (value >= 0.1) {
    return `${value.toPrecision(3)} J`;
  }
  return value >= 0.0001 ? `${(1000 * value).toPrecision(3)} mJ` : `${(1e6 * value).toPrecision(3)} µJ`;
}

export function count(value) {
  return value.toLocaleString("en").replaceAll(",", "\u202f");
}

export function timeOfDay(at) {
  return new Date(1000 * at).toLocaleTimeString("en-GB");
}
