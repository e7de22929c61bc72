// Asks again and again, while somebody looks: a page in the background asks nothing.

export class Poll {
  // `question` is asked, then `answered(value)` or `failed(error)` is called, and after
  // `interval_ms` all that again.
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

  // At once; an answer that is under way is not waited for any more.
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
