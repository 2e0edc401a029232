// The WebSocket that never gives up: back-off, liveness, and a word for the state it is in.

const FIRST_RETRY_MS = 400;
const LONGEST_RETRY_MS = 15_000;
const PING_EVERY_MS = 20_000;
const SILENCE_MS = 45_000;
const NOT_LOGGED_IN = 4401;

export class Connection {
  // onFrame(object) for every frame; onPhase("connecting" | "open" | "waiting" | "refused", retryAtMs).
  constructor(url, onFrame, onPhase) {
    this.url = url;
    this.onFrame = onFrame;
    this.onPhase = onPhase;
    this.socket = null;
    this.failures = 0;
    this.retryTimer = 0;
    this.lastHeard = 0;
    setInterval(() => this.#checkLiveness(), PING_EVERY_MS / 2);
    addEventListener("online", () => this.retryNow());
    document.addEventListener("visibilitychange", () => document.hidden || this.retryNow());
  }

  open() {
    clearTimeout(this.retryTimer);
    this.onPhase("connecting");
    const socket = new WebSocket(this.url);
    this.socket = socket;
    this.lastHeard = Date.now();
    socket.onmessage = (event) => {
      if (socket !== this.socket) return;
      this.lastHeard = Date.now();
      const frame = JSON.parse(event.data);
      if (frame.type === "hello") {
        this.failures = 0;
        this.onPhase("open");
      }
      this.onFrame(frame);
    };
    socket.onclose = (event) => socket === this.socket && this.#lost(event.code);
  }

  // True when the frame was handed to an open socket. It may still be lost: only an answer proves arrival.
  send(frame) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(frame));
    return true;
  }

  retryNow() {
    if (this.socket === null && this.retryTimer) this.open();
  }

  #lost(code) {
    this.socket = null;
    if (code === NOT_LOGGED_IN) {
      this.onPhase("refused");
      return;
    }
    const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.failures);
    const pause = longest * (0.6 + 0.4 * Math.random());
    this.failures += 1;
    this.onPhase("waiting", Date.now() + pause);
    this.retryTimer = setTimeout(() => this.open(), pause);
  }

  #checkLiveness() {
    if (this.socket === null) return;
    const silent = Date.now() - this.lastHeard;
    if (silent > SILENCE_MS) {
      const dead = this.socket;
      this.#lost(0);
      dead.close();
    } else if (silent >= PING_EVERY_MS / 2) {
      this.send({ type: "ping" });
    }
  }
}
