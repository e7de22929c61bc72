// The page that shows the use of the link over an hour and a day: rates, loss, round-trip time,
// queue and compression.
import {get} from "./api.js";
import {TimeChart, loadLibrary} from "./charts.js";
import {make, setText, show} from "./dom.js";
import {NoticePlace, loading, nothing} from "./notices.js";
import {Poll} from "./poll.js";
import {joined, latest, points} from "./series.js";
import {Table} from "./table.js";
import * as units from "./units.js";

export const title = "Link";

// `every_ms`: interval of requests. `row_s`: seconds over which a row of the table is the mean.
const SPANS = {
  hour: {every_ms: 5000, row_s: 300, length_s: 3600, words: "the last hour"},
  day: {every_ms: 60_000, row_s: 3600, length_s: 86400, words: "the last day"},
};
const MOST_POINTS = 360; // points of a line; more points could not be told apart

// One chart for each figure. `of` names a column of the samples.
const FIGURES = [
  {
    name: "Rate of the link",
    text: units.bitRate,
    lines: [
      {name: "sent", of: "send_bps", colour: 1},
      {name: "received", of: "receive_bps", colour: 2},
    ],
  },
  {
    name: "Rate of the LAN",
    text: units.bitRate,
    lines: [
      {name: "from hosts", of: "lan_in_bps", colour: 1},
      {name: "to hosts", of: "lan_out_bps", colour: 2},
    ],
  },
  {
    name: "Loss",
    text: (value) => units.percent(value),
    lines: [{name: "lost", of: "loss_ratio", colour: 5}],
  },
  {
    name: "Round trip",
    text: (value) => units.duration(value * 1e6),
    lines: [{name: "longest of all peers", of: "rtt_seconds", colour: 4}],
  },
  {
    name: "Queue",
    text: units.binaryBytes,
    lines: [{name: "waiting for the link", of: "queued_bytes", colour: 2}],
  },
  {
    name: "Compression",
    text: units.ratio,
    lines: [{name: "plain by encoded", of: "compression_ratio", colour: 3}],
  },
  {name: "Flows", text: units.count, lines: [{name: "flows", of: "flows", colour: 1}]},
];

// One chart for each of these figures, with a line for each class.
const BY_CLASS = [
  {name: "Sent, by class", of: "class_bps", text: units.bitRate, stacked: true},
  {name: "Queue, by class", of: "class_queued_bytes", text: units.binaryBytes, stacked: true},
  {
    name: "Compression, by class",
    of: "class_compression_ratio",
    text: units.ratio,
    stacked: false,
  },
];

const wholeText = (figure) => (value) => (value === null ? units.NONE : figure.text(value));

function rowsOf({samples}, row_s) {
  const columns = FIGURES.flatMap(({lines}) =>
    lines.map(({of}) => points(samples.time, samples[of], row_s)),
  );
  return columns[0]
    .map(({x}, i) => ({x, values: columns.map((column) => column[i].y)}))
    .filter(({values}) => values.some((value) => value !== null))
    .reverse();
}

function tableOf(words) {
  let place = 0;
  const columns = FIGURES.flatMap((figure) =>
    figure.lines.map((line) => {
      const mine = place++;
      return {
        title: figure.lines.length > 1 ? `${figure.name}, ${line.name}` : figure.name,
        numeric: true,
        cell: ({values}) => wholeText(figure)(values[mine]),
      };
    }),
  );
  return new Table(
    `Means of ${words}, the latest first`,
    [{title: "from", head: true, cell: ({x}) => units.clockOfMinutes(x * 1000)}, ...columns],
    {key: ({x}) => x},
  );
}

function classRows({classes, samples}) {
  const means = classes.map((name, i) => {
    const known = samples.class_bps[i].filter((value) => value !== null);
    const ratios = samples.class_compression_ratio[i].filter((value) => value !== null);
    return {
      name,
      now: latest(samples.class_bps[i]),
      queued: latest(samples.class_queued_bytes[i]),
      ratio: ratios.length ? ratios.reduce((sum, value) => sum + value, 0) / ratios.length : NaN,
      most: known.length ? Math.max(...known) : NaN,
      mean: known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : NaN,
    };
  });
  const all = means.reduce((sum, {mean}) => sum + (mean || 0), 0);
  return means.map((each) => ({...each, part: all > 0 ? each.mean / all : NaN}));
}

function classTable(words) {
  return new Table(
    `Rates of each class in ${words}`,
    [
      {title: "class", head: true, cell: ({name}) => name},
      {title: "now", numeric: true, cell: ({now}) => units.bitRate(now)},
      {title: "mean", numeric: true, cell: ({mean}) => units.bitRate(mean)},
      {title: "share", numeric: true, cell: ({part}) => units.percent(part, 1)},
      {title: "highest", numeric: true, cell: ({most}) => units.bitRate(most)},
      {title: "queue now", numeric: true, cell: ({queued}) => units.binaryBytes(queued)},
      {title: "compression, mean", numeric: true, cell: ({ratio}) => units.ratio(ratio)},
    ],
    {key: ({name}) => name},
  );
}

// The charts and tables of one span.
class Panes {
  constructor(span, canDraw) {
    this.span = span;
    this.canDraw = canDraw;
    this.clock = (x) => (span === "day" ? units.clockOfMinutes : units.clock)(x * 1000);
    this.charts = [];
    this.nows = FIGURES.map(() => make("p", {class: "now"}));
    this.classes = null;
    this.classCharts = [];
    this.classPlaces = BY_CLASS.map(() => make("div", {}));
    this.classTable = classTable(SPANS[span].words);
    this.table = tableOf(SPANS[span].words);
    this.element = make(
      "div",
      {},
      make(
        "section",
        {class: "card", "aria-label": "By class"},
        make("h2", {}, canDraw ? BY_CLASS[0].name : "By class"),
        this.classPlaces[0],
        this.classTable.element,
      ),
      canDraw &&
        make(
          "div",
          {class: "grid"},
          BY_CLASS.slice(1).map(({name}, i) =>
            make(
              "section",
              {class: "card", "aria-label": name},
              make("h2", {}, name),
              this.classPlaces[i + 1],
            ),
          ),
        ),
      make(
        "div",
        {class: "grid"},
        FIGURES.map((figure, i) => this.figure(figure, i)),
      ),
      make(
        "section",
        {class: "card", "aria-label": "As a table"},
        canDraw
          ? make("details", {}, make("summary", {}, "The same as a table"), this.table.element)
          : this.table.element,
      ),
    );
  }

  chartOf(name, lines, text, stacked = false) {
    const isWhole = text === units.count || text === units.binaryBytes;
    const chart = new TimeChart(name, lines, {text, clock: this.clock, stacked, isWhole});
    this.charts.push(chart);
    return chart;
  }

  figure(figure, i) {
    figure = {
      ...figure,
      chart: this.canDraw && this.chartOf(figure.name, figure.lines, figure.text),
    };
    this.figures = [...(this.figures ?? []), figure];
    return make(
      "section",
      {class: "card", "aria-label": figure.name},
      make("h2", {}, figure.name),
      this.nows[i],
      figure.chart && figure.chart.element,
    );
  }

  // Makes new charts if the list of classes has changed, as it may after a reload.
  followClasses(names) {
    if (!this.canDraw || this.classes?.join("\n") === names.join("\n")) return;
    this.classes = names;
    for (const chart of this.classCharts) chart.close();
    this.charts = this.charts.filter((chart) => !this.classCharts.includes(chart));
    const lines = names.map((name, i) => ({name, colour: 1 + (i % 6), dash: i >= 6}));
    this.classCharts = BY_CLASS.map(({name, text, stacked}, i) => {
      const chart = this.chartOf(name, lines, text, stacked);
      show(this.classPlaces[i], chart.element);
      return chart;
    });
  }

  update(history) {
    const {samples, classes} = history;
    const {row_s, length_s} = SPANS[this.span];
    // The chart begins no earlier than satpanel's first sample.
    const to = samples.time.at(-1);
    const from = Math.max(samples.time[0], to - length_s);
    const step = history.step_seconds;
    const point_s = Math.ceil((to - from) / MOST_POINTS / step) * step;
    const of = (column) => points(samples.time, column, point_s);
    this.figures.forEach(({chart, lines, text}, i) => {
      if (chart)
        chart.update(
          lines.map((line) => of(samples[line.of])),
          from,
          to,
        );
      setText(
        this.nows[i],
        "now " +
          lines
            .map((line) => {
              const value = text(latest(samples[line.of]));
              return lines.length > 1 ? `${line.name} ${value}` : value;
            })
            .join(", "),
      );
    });
    this.followClasses(classes);
    this.classCharts.forEach((chart, i) => chart.update(samples[BY_CLASS[i].of].map(of), from, to));
    this.classTable.update(classRows(history));
    this.table.update(rowsOf(history, row_s));
  }

  paint() {
    for (const chart of this.charts) {
      chart.paint();
      chart.chart?.update("none");
    }
  }

  close() {
    for (const chart of this.charts) chart.close();
  }
}

export function open({query}) {
  const span = query.get("span") === "day" ? "day" : "hour";
  const notices = new NoticePlace();
  const place = make("div", {});
  const withoutCharts = make(
    "p",
    {class: "note", hidden: true},
    "There are no charts: the package libjs-chart.js is not installed on satpanel's machine. The " +
      "tables have all figures.",
  );
  notices.show(loading("the history"), "loading");
  let panes = null,
    history = null,
    isClosed = false;

  async function answered(answer) {
    history = joined(history, answer);
    const canDraw = await loadLibrary();
    if (isClosed) return;
    withoutCharts.hidden = canDraw;
    if (history.samples.time.length < 2) {
      place.hidden = true;
      notices.show(
        nothing(
          "There is no history yet.",
          "satpanel records the gateway once a second. The first figures of the hour appear in a " +
            "few seconds, the first of the day in a few minutes.",
        ),
        "empty",
      );
      return;
    }
    notices.clear();
    place.hidden = false;
    if (!panes) {
      panes = new Panes(span, canDraw);
      show(place, panes.element);
    }
    panes.update(history);
  }

  const since = () => history?.samples.time.at(-1) ?? null;
  const poll = new Poll(
    SPANS[span].every_ms,
    () => get("/history", {span, since: since()}),
    answered,
    (error) => notices.fail(error),
  );
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const repaint = () => panes?.paint();
  scheme.addEventListener("change", repaint);
  const link = (word) =>
    make(
      "a",
      {
        href: `#/link?span=${word}`,
        "aria-current": word === span ? "true" : null,
      },
      SPANS[word].words,
    );

  return {
    element: [
      make(
        "p",
        {class: "lead"},
        "The traffic that satpanel has recorded, also while no browser was open: every second of " +
          "an hour, every minute of a day.",
      ),
      make("p", {class: "tabs"}, link("hour"), link("day")),
      withoutCharts,
      notices.element,
      place,
    ],
    close() {
      isClosed = true;
      poll.stop();
      panes?.close();
      scheme.removeEventListener("change", repaint);
    },
  };
}
