// The events of the view, again and again: a browser's own EventSource gives up at times, and notices no dead link.

const KINDS = ["node", "camera", "history", "prediction", "picture", "events"];
const SILENT_MS = 3000; // the view says something each second
const AGAIN_MS = 1000;

// `hear`: take(number of the node, kind, message), live() with each of them, lost() once there are none.
export function connect(hear) {
  let source = null;
  let heard = performance.now();
  let opened = -Infinity;

  function open() {
    source?.close();
    opened = performance.now();
    source = new EventSource("/events");
    for (const kind of KINDS) {
      source.addEventListener(kind, (event) => {
        heard = performance.now();
        hear.live();
        hear.take(Number(event.lastEventId), kind, JSON.parse(event.data));
      });
    }
    source.addEventListener("error", hear.lost);
  }

  function look() {
    const now = performance.now();
    if (now - heard > SILENT_MS) {
      hear.lost();
    }
    const isStuck = source.readyState === EventSource.CLOSED || now - heard > 2 * SILENT_MS;
    if (isStuck && now - opened > (source.readyState === EventSource.CLOSED ? AGAIN_MS : SILENT_MS)) {
      open();
    }
  }

  open();
  setInterval(look, AGAIN_MS / 2);
}
