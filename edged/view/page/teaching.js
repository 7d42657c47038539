// Teaching the daemon of the first node: for who logs in as a teacher of its config. The view runs `edged teach`.

import { button, field, heading, labelled } from "./forms.js";
import { CropStrips } from "./teaching-crops.js";
import { SeenPictures } from "./teaching-seen.js";
import { draw as drawResult, wordsOf } from "./teaching-words.js";
import { made, percent, setText, show, timeOfDay } from "./text.js";

const LOOK_MS = 500; // between two looks at a running job
const ANSWER_MS = { label: 300_000 }; // the first time, the view reads the model
const OTHER_ANSWER_MS = 30_000;
const SHADOW_S = 20;

export class Teaching {
  constructor(section, button) {
    this.section = section;
    this.button = button;
    this.token = "";
    this.user = null;
    this.job = null;
    this.followed = 0;
    button.addEventListener("click", () => this.toggle());
  }

  // The view says that this daemon may be taught.
  offer() {
    show(this.button, true);
  }

  async toggle() {
    const isOpen = this.section.hidden;
    show(this.section, isOpen);
    this.button.ariaExpanded = String(isOpen);
    if (isOpen) {
      await this.open();
    }
  }

  async open() {
    this.failed = this.section;
    this.section.replaceChildren(made("p", "quiet", "Asking who is logged in …"));
    await this.attempt("Teaching cannot be opened", async () => {
      this.take(await this.ask("GET", "session"));
      if (this.user) {
        await this.begin();
      } else {
        this.drawLogIn("");
      }
    });
  }

  // Does `work`; if that fails, shows what failed and why, and a button that does it again.
  async attempt(what, work) {
    try {
      await work();
    } catch (error) {
      console.warn(what, error); // with its place in this code
      const words = made("p", "problem", `${what}: ${error.message}`);
      words.role = "alert";
      const again = button("Try again", "", () => {
        this.failed.replaceChildren();
        error.isLoggedOut ? this.open() : this.attempt(what, work);
      });
      this.failed.replaceChildren(words, again);
    }
  }

  // Throws an Error with what the view says.
  async ask(method, what, body) {
    const headers = { "content-type": "application/json", "x-edged-token": this.token };
    let response;
    try {
      const signal = AbortSignal.timeout(ANSWER_MS[what] ?? OTHER_ANSWER_MS);
      const options = { method, signal, headers: method === "GET" ? {} : headers, body: body && JSON.stringify(body) };
      response = await fetch(`/teach/${what}`, options);
    } catch {
      throw new Error("The view does not answer.");
    }
    const found = await response.json().catch(() => null);
    if (!response.ok || !found) {
      const error = new Error(found?.error ?? `The view answers with status ${response.status}, and no JSON.`);
      error.isLoggedOut = response.status === 403;
      throw error;
    }
    return found;
  }

  take({ user, token }) {
    this.user = user;
    this.token = token ?? "";
  }

  drawLogIn(problem) {
    const form = made("form", "log-in");
    const [user, name] = field("Name", "text", "username");
    const [password, secret] = field("Password", "password", "current-password");
    const words = made("p", "problem", problem);
    words.role = "alert";
    form.append(heading("Teach new labels"), name, secret, button("Log in", "main", null, "submit"), words);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        this.take(await this.ask("POST", "login", { user: user.value, password: password.value }));
      } catch (error) {
        setText(words, error.message);
        return;
      }
      await this.attempt("Teaching cannot be shown", () => this.begin());
    });
    this.section.replaceChildren(form);
    user.focus();
  }

  async begin() {
    this.drawFrame();
    try {
      this.job = await this.ask("GET", "job");
      await this.refresh();
    } catch (error) {
      this.now.replaceChildren();
      throw error;
    }
    if (this.job.is_running) {
      this.attempt("The job cannot be followed", () => this.follow());
    }
  }

  drawFrame() {
    const top = made("header", "teach-top");
    this.title = heading("Teach");
    const logOut = async () => {
      this.take(await this.ask("POST", "logout", {}));
      this.drawLogIn("");
    };
    const leave = button("Log out", "", () => this.attempt("You are still logged in", logOut));
    top.append(this.title, made("span", "quiet", `as ${this.user}`), leave);
    this.failed = made("div", "failed");
    this.now = made("div", "job");
    this.now.ariaLive = "polite";
    this.steps = made("div", "steps");
    const label = (pictures, label) => this.change("The pictures were not labelled", "label", { pictures, label });
    this.seen = new SeenPictures(label, () => this.attempt("The pictures cannot be shown", () => this.refresh()));
    this.strips = new CropStrips((crops) => this.change("The crops were not deleted", "delete", { crops }));
    this.section.replaceChildren(top, this.failed, this.now, this.steps, this.seen.element, this.strips.element);
    setText(this.now, "Reading labels and versions …");
  }

  async refresh() {
    const [state, seen] = await Promise.all([this.ask("GET", "state"), this.ask("GET", "seen")]);
    this.state = state;
    this.steps.replaceChildren(this.recordStep(), this.trainStep(), this.versionStep());
    this.seen.draw(seen, state.labels.map((each) => each.label));
    this.strips.draw(state.labels);
    this.drawJob();
    setText(this.title, `Teach ${this.state.node}`); // last: it says that all is there
  }

  recordStep() {
    const step = made("form", "step");
    const camera = made("select", "");
    camera.append(...this.state.cameras.map((name) => new Option(name)));
    const label = made("input", "");
    Object.assign(label, { required: true, maxLength: 64, pattern: "[^\\-].*", autocomplete: "off" });
    label.setAttribute("list", "teach-labels");
    const known = made("datalist", "");
    known.id = "teach-labels";
    known.append(...this.state.labels.map((each) => new Option(each.label)));
    const number = made("input", "");
    Object.assign(number, { type: "number", min: 1, max: 1000, value: 40, required: true });
    step.append(
      heading("1. Record", "h3"),
      made("p", "quiet", "Hold before the camera what the label names, and move it a little."),
      labelled("Camera", camera),
      labelled("Label", label),
      labelled("Crops", number),
      known,
      button("Record", "main", null, "submit"),
      this.labelList(),
    );
    step.addEventListener("submit", (event) => {
      event.preventDefault();
      this.start({ action: "record", camera: camera.value, label: label.value, count: Number(number.value) });
    });
    return step;
  }

  labelList() {
    const list = made("ul", "labels-taught plain");
    for (const { label, crops, held_back: held } of this.state.labels) {
      const row = made("li", "");
      const forget = button("Forget", "small", () => {
        if (confirm(`Delete the ${crops} crops of “${label}”?`)) {
          this.change(`The crops of “${label}” were not deleted`, "forget", { label });
        }
      });
      forget.ariaLabel = `Forget ${label}`;
      row.append(made("b", "", label), made("span", "quiet", `${crops} crops, ${held} held back for the test`), forget);
      list.append(row);
    }
    return list;
  }

  trainStep() {
    const step = made("div", "step");
    const enough = this.state.labels.length > 1;
    const train = button("Train", "main", () => this.start({ action: "train" }));
    train.disabled = !enough;
    const words = enough
      ? `A new version for ${this.state.labels.map((each) => `“${each.label}”`).join(", ")}. It is not used until you promote it.`
      : "Record two labels at least: a version knows only the labels that you have recorded.";
    step.append(heading("2. Train", "h3"), made("p", "quiet", words), train);
    return step;
  }

  versionStep() {
    const step = made("div", "step");
    const list = made("ul", "versions plain");
    list.append(...this.state.versions.map((version) => this.versionRow(version)));
    const back = button("Roll back", "", () => this.start({ action: "rollback" }));
    back.disabled = !this.state.promoted;
    const words = this.state.promoted ? "A taught version is in use." : "The model of the config is in use.";
    step.append(heading("3. Compare and promote", "h3"), made("p", "quiet", words), list, back);
    if (this.state.problem) {
      step.append(made("p", "problem", this.state.problem));
    }
    return step;
  }

  versionRow({ sha256, labels, trained_at: at, held_back: judged, answers }) {
    const row = made("li", "");
    const name = sha256.slice(0, 12);
    const right = judged?.crops ? `${percent(judged.right / judged.crops)} of ${judged.crops} right` : "not evaluated";
    const words = made("span", "words");
    words.append(made("b", "", name), " ", made("span", "quiet", `${timeOfDay(at)} · ${labels.join(", ")} · ${right}`));
    row.append(words);
    if (answers) {
      const chip = made("span", "chip", "Answers");
      chip.dataset.state = "up";
      row.append(chip);
    } else {
      const shadow = button("Shadow", "small", () => this.start({ action: "shadow", version: sha256, seconds: SHADOW_S }));
      const promote = button("Promote", "small", () => this.start({ action: "promote", version: sha256 }));
      shadow.ariaLabel = `Run ${name} in shadow`;
      promote.ariaLabel = `Promote ${name}`;
      row.append(shadow, promote);
    }
    return row;
  }

  // Changes crops at once, without a job.
  async change(failure, what, wanted) {
    this.failed.replaceChildren();
    await this.attempt(failure, async () => {
      await this.ask("POST", what, wanted);
      await this.refresh();
    });
  }

  async start(wanted) {
    this.failed.replaceChildren(); // an earlier failure
    await this.attempt(`${wanted.action} was not started`, async () => {
      this.job = await this.ask("POST", "start", wanted);
      this.attempt("The job cannot be followed", () => this.follow());
    });
  }

  // Until the job has ended, or is followed by a later call.
  async follow() {
    const number = ++this.followed;
    while (this.job.is_running) {
      this.drawJob();
      await new Promise((resume) => setTimeout(resume, LOOK_MS));
      const job = await this.ask("GET", "job");
      if (number !== this.followed) {
        return;
      }
      this.job = job;
    }
    await this.refresh();
  }

  drawJob() {
    const { job } = this;
    for (const element of [this.steps, this.seen.element, this.strips.element]) {
      element.classList.toggle("waits", Boolean(job.is_running));
    }
    if (!job.action) {
      this.now.replaceChildren();
    } else if (job.is_running) {
      this.drawRunning();
    } else {
      this.now.replaceChildren(...drawResult(job));
      if (job.error.startsWith("not promoted")) {
        const again = { action: "promote", version: job.version, force: true };
        this.now.append(button("Promote it anyway", "", () => this.start(again)));
      }
    }
  }

  // Changes only the words of a job that is shown already: its button must stay the same one under the pointer.
  drawRunning() {
    const { job } = this;
    if (this.now.dataset.running !== String(job.number) || !this.now.querySelector("progress")) {
      const bar = made("progress", "");
      bar.ariaLabel = `${job.action} runs`;
      const isEndless = job.action === "record" || job.action === "shadow";
      const end = () => this.attempt("The job was not stopped", () => this.ask("POST", "stop", {}));
      this.now.dataset.running = job.number;
      this.now.replaceChildren(bar, made("p", "", ""), ...(isEndless ? [button("Stop", "", end)] : []));
    }
    setText(this.now.querySelector("p"), wordsOf(job));
  }
}
