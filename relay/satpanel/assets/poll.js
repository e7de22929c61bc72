// Repeats a question while the page is visible. A page in the background asks nothing.

export class Poll {
  // Asks `question`, then calls `answered(value)` or `failed(error)`, and repeats that after
  // `interval_ms`.
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

  // Asks at once. The answer to an earlier question is ignored if it has not come yet.
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
