// Repeats a request while the page is visible. A page in the background sends no requests.

export class Poll {
  // Calls `question()` and awaits its result, then calls `answered(value)` or `failed(error)`. Does
  // the same again after `interval_ms`.
  constructor(interval_ms, question, answered, failed) {
    this.interval_ms = interval_ms;
    this.question = question;
    this.answered = answered;
    this.failed = failed;
    this.timer = 0;
    this.round = 0;
    this.onVisible = () => (document.hidden ? this.pause() : this.now());
    document.addEventListener("visibilitychange", this.onVisible);
    this.now();
  }

  // Calls `question()` at once. If the result of an earlier call is still awaited, it will be
  // ignored.
  async now() {
    this.pause();
    const round = this.round;
    let value, error;
    try {
      value = await this.question();
    } catch (problem) {
      error = problem;
    }
    if (round !== this.round) return;
    if (error) this.failed(error);
    else this.answered(value);
    if (round === this.round && !document.hidden) {
      this.timer = setTimeout(() => this.now(), this.interval_ms);
    }
  }

  pause() {
    clearTimeout(this.timer);
    this.round += 1;
  }

  stop() {
    this.pause();
    document.removeEventListener("visibilitychange", this.onVisible);
  }
}
