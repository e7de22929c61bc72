// Adds new samples to a history of samples, and averages samples that are too many to draw.

const LENGTH_S = {hour: 3600, day: 86400};

// Returns a history that has the samples of `before`, then the later samples of `answer`, an answer
// to GET /history. `samples` has a column for each figure.
export function joined(before, answer) {
  const samples = before?.samples;
  const sameClasses = before && before.classes.join() === answer.classes.join();
  if (!sameClasses || answer.step_seconds !== before.step_seconds || samples.time.length === 0) {
    return answer;
  }
  const last = samples.time.at(-1);
  const from = answer.samples.time.findIndex((time) => time > last);
  if (from < 0) return before;
  const whole = {...answer, samples: {}};
  const first = samples.time.findIndex(
    (time) =>
      time > answer.samples.time.at(-1) - LENGTH_S[answer.step_seconds === 1 ? "hour" : "day"],
  );
  const follow = (old, more) => (first < 0 ? [] : old.slice(first)).concat(more.slice(from));
  for (const [name, column] of Object.entries(answer.samples)) {
    whole.samples[name] = name.startsWith("class_") // a column for each class
      ? column.map((each, i) => follow(samples[name][i], each))
      : follow(samples[name], column);
  }
  return whole;
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

function meanOf(values) {
  const known = values.filter(isNumber);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

// Returns points {x: seconds, y}. Each y is the mean over `width` seconds, or null if no value is
// known.
export function points(times, values, width) {
  const found = [];
  for (let i = 0; i < times.length;) {
    const bin = Math.floor(times[i] / width);
    let end = i;
    while (end < times.length && Math.floor(times[end] / width) === bin) end += 1;
    const x = bin * width;
    const last = found.at(-1);
    if (last && x - last.x > width) found.push({x: last.x + width, y: null}); // shows a gap
    found.push({x, y: meanOf(values.slice(i, end))});
    i = end;
  }
  return found;
}

export function latest(values) {
  const value = values.at(-1);
  return isNumber(value) ? value : NaN;
}
