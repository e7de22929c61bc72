// A table that can be updated without a rebuild, so that focus, selection and scroll position stay.
// On a narrow page each row becomes a card, and each cell shows the title of its column. The
// elements have explicit roles, since screen readers do not recognize a table that has another
// layout.
import {make, setAttribute, setText, show} from "./dom.js";

export class Table {
  // Columns: {title, cell(entry), numeric?, sort?: field, head?: whether it names the row}. A cell
  // is a text or {text, href, tone}. A column may have control(row) instead of cell: control(row)
  // makes an element once, and row.entry is always the entry that the row shows. `onsort(field)` is
  // called when the user clicks a column's head.
  constructor(caption, columns, {key, onsort = null, isCaptionHidden = false}) {
    this.columns = columns;
    this.key = key;
    this.rows = new Map();
    this.heads = columns.map((column) => this.head(column, onsort));
    this.body = make("tbody", {role: "rowgroup"});
    this.element = make(
      "table",
      {role: "table"},
      make("caption", {class: isCaptionHidden ? "visually-hidden" : null}, caption),
      make("thead", {role: "rowgroup"}, make("tr", {role: "row"}, this.heads)),
      this.body,
    );
  }

  head(column, onsort) {
    const isSorting = onsort && column.sort;
    return make(
      "th",
      {scope: "col", role: "columnheader", class: column.numeric ? "numeric" : null},
      isSorting
        ? make(
            "button",
            {type: "button", class: "sort", onclick: () => onsort(column.sort)},
            column.title,
          )
        : column.title,
    );
  }

  // `order` is "field" or "-field".
  markSorted(order) {
    const field = order.replace(/^-/, "");
    this.columns.forEach((column, i) => {
      const direction = order.startsWith("-") ? "descending" : "ascending";
      setAttribute(this.heads[i], "aria-sort", column.sort === field ? direction : null);
    });
  }

  update(entries) {
    const before = this.rows;
    this.rows = new Map();
    entries.forEach((entry, place) => {
      const key = String(this.key(entry));
      const row = before.get(key) ?? this.makeRow(entry);
      before.delete(key);
      this.rows.set(key, row);
      row.entry = entry;
      this.columns.forEach((column, i) => {
        if (column.cell) this.fillCell(row.cells[i], column.cell(entry));
      });
      if (this.body.children[place] !== row.element) {
        this.body.insertBefore(row.element, this.body.children[place] ?? null);
      }
    });
    for (const row of before.values()) row.element.remove();
  }

  makeRow(entry) {
    const cells = this.columns.map((column) =>
      make(column.head ? "th" : "td", {
        scope: column.head ? "row" : null,
        role: column.head ? "rowheader" : "cell",
        class: column.numeric ? "numeric" : null,
        "data-title": column.title,
      }),
    );
    const row = {entry, cells, element: make("tr", {role: "row"}, cells)};
    this.columns.forEach((column, i) => {
      if (column.control) show(cells[i], column.control(row));
    });
    return row;
  }

  fillCell(cell, content) {
    if (content !== null && typeof content === "object") {
      let inner = cell.firstElementChild;
      if (!inner) show(cell, (inner = make(content.href ? "a" : "span", {})));
      setText(inner, content.text);
      setAttribute(inner, "href", content.href);
      setAttribute(inner, "class", content.tone ? "badge" : null);
      setAttribute(inner, "data-tone", content.tone);
    } else {
      setText(cell, content ?? "");
    }
  }
}

// A list of pairs of a name and a value, which can be updated without a rebuild.
export class Pairs {
  constructor(names) {
    this.values = names.map(() => make("dd", {}));
    this.element = make(
      "dl",
      {class: "pairs"},
      names.map((name, i) => make("div", {}, make("dt", {}, name), this.values[i])),
    );
  }
  update(texts) {
    texts.forEach((text, i) => setText(this.values[i], text));
  }
}

// Says which part of a list is shown, and has buttons for the other parts.
export class Pager {
  constructor(size, onchange) {
    this.size = size;
    this.first = 0;
    this.onchange = onchange;
    const step = (by) => () => {
      this.first = Math.max(0, this.first + by * this.size);
      onchange();
    };
    this.text = make("span", {"aria-live": "polite"});
    this.back = make("button", {type: "button", onclick: step(-1)}, "Previous");
    this.on = make("button", {type: "button", onclick: step(1)}, "Next");
    this.element = make(
      "div",
      {class: "pager", role: "group", "aria-label": "Pages of the list"},
      this.back,
      this.text,
      this.on,
    );
    this.element.hidden = true;
  }
  update({total, first, entries}) {
    if (entries.length === 0 && total > 0 && first > 0) {
      // the list has become shorter
      this.first = Math.floor((total - 1) / this.size) * this.size;
      this.onchange();
      return;
    }
    setText(
      this.text,
      total === 0 ? "none" : `${first + 1} to ${first + entries.length} of ${total}`,
    );
    this.back.disabled = first === 0;
    this.on.disabled = first + entries.length >= total;
    this.element.hidden = total <= this.size && first === 0;
  }
}
