// Draws charts by Chart.js, which satpanel serves from Debian's package. Without the package, the
// page has only tables.
import {make} from "./dom.js";

const LIBRARY = "/vendor/chart.min.js";
let loadingLibrary = null;

// Loads Chart.js. The promise resolves to whether charts can be drawn.
export function loadLibrary() {
  loadingLibrary ??= new Promise((resolve) => {
    document.head.append(
      make("script", {
        src: LIBRARY,
        onload: () => resolve("Chart" in window),
        onerror: () => resolve(false),
      }),
    );
  });
  return loadingLibrary;
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A chart over time. `lines`: {name, colour: 1 to 6, dash?}. `text(value)` formats a value, and
// `clock(x)` formats a time. `stacked`: draws the lines on top of each other. `isWhole`: the values
// have no fractions.
export class TimeChart {
  constructor(name, lines, {text, clock, stacked = false, isWhole = false}) {
    this.lines = lines;
    this.canvas = make("canvas", {
      role: "img",
      "aria-label": `${name}: the table below has the figures`,
    });
    this.element = make("div", {class: "chart"}, this.canvas);
    this.settings = {text, clock, stacked, isWhole};
    this.chart = null;
  }

  // `data`: the points of each line. `element` must be in the page at the first call.
  update(data, from, to) {
    this.chart ??= new /** @type {any} */ (window).Chart(this.canvas, this.configuration());
    data.forEach((points, i) => {
      this.chart.data.datasets[i].data = points;
    });
    Object.assign(this.chart.options.scales.x, {min: from, max: to});
    this.paint();
    this.chart.update("none");
  }

  // Applies the colours of the current scheme, light or dark.
  paint() {
    if (!this.chart) return;
    const {scales, plugins} = this.chart.options;
    for (const scale of [scales.x, scales.y]) {
      scale.ticks.color = colour("--soft");
      scale.grid.color = colour("--line");
    }
    plugins.legend.labels.color = colour("--ink");
    this.chart.data.datasets.forEach((set, i) => {
      set.borderColor = colour(`--chart-${this.lines[i].colour}`);
      set.backgroundColor = set.borderColor;
    });
  }

  configuration() {
    const {text, clock, stacked, isWhole} = this.settings;
    return {
      type: "line",
      data: {
        datasets: this.lines.map((line) => ({
          label: line.name,
          data: [],
          borderWidth: 1.5,
          pointRadius: 0,
          pointHitRadius: 6,
          borderDash: line.dash ? [6, 3] : [],
          fill: stacked,
          spanGaps: false,
        })),
      },
      options: {
        animation: false,
        parsing: false,
        normalized: true,
        maintainAspectRatio: false,
        interaction: {mode: "index", intersect: false},
        scales: {
          x: {
            type: "linear",
            ticks: {callback: clock, maxRotation: 0, maxTicksLimit: 7, autoSkipPadding: 16},
            grid: {},
          },
          y: {
            stacked,
            beginAtZero: true,
            ticks: {callback: text, maxTicksLimit: 5, precision: isWhole ? 0 : undefined},
            grid: {},
          },
        },
        plugins: {
          legend: {display: this.lines.length > 1, labels: {boxWidth: 14, boxHeight: 2}},
          tooltip: {
            callbacks: {
              title: (items) => (items.length ? clock(items[0].parsed.x) : ""),
              label: (item) => `${item.dataset.label}: ${text(item.parsed.y)}`,
            },
          },
        },
      },
    };
  }

  close() {
    this.chart?.destroy();
  }
}
