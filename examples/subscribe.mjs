// Print each prediction of a node: `npm install zeromq`, then `node examples/subscribe.mjs [ADDRESS]`.

import { Subscriber } from "zeromq";

const socket = new Subscriber({ linger: 0 });
socket.connect(process.argv[2] ?? "tcp://127.0.0.1:5570");
socket.subscribe("edged/");
for await (const [topic, body] of socket) {
  if (topic.toString().endsWith("/prediction")) {
    const { seq, camera, top } = JSON.parse(body);
    console.log(seq, camera, top[0].label, `${Math.round(100 * top[0].score)}%`);
  }
}
