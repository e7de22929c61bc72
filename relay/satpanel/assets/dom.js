// Makes elements. Text always becomes a text node and is never parsed as markup, since names may
// come from hostile peers and hosts.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

// Example: make("a", {href: "#/", onclick: f}, "text", element, ...).
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function makeSvg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function show(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

// Sets the text. If it is the same already, nothing is changed, so that selections and screen
// readers are not disturbed.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  if (value === null || value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

// Shows the result of `build()` in `element`, but only if `state` differs from the state of the
// last call.
export function showIfNew(element, state, build) {
  const key = JSON.stringify(state);
  if (element.shownState === key) return;
  element.shownState = key;
  show(element, build());
}

let numbers = 0;
export function newId(word) {
  numbers += 1;
  return `${word}-${numbers}`;
}

// Returns a group: the label `text`, the control, and the hint `help`.
export function labelled(text, control, help = "") {
  control.id ||= newId("control");
  const parts = [make("label", {for: control.id}, text), control];
  if (help) {
    const hint = make("small", {id: newId("hint")}, help);
    control.setAttribute("aria-describedby", hint.id);
    parts.push(hint);
  }
  return make("div", {class: "field"}, parts);
}

export function options(words, chosen = "") {
  return words.map((word) => {
    const [value, text] = Array.isArray(word) ? word : [word, word];
    return make("option", {value, selected: value === chosen}, text);
  });
}
