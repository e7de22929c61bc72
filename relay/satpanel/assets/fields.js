// Makes controls for the arguments of a command, from the command's description in GET /commands.
import {labelled, make, newId, options} from "./dom.js";
import * as units from "./units.js";

const SHAPES = {
  rate: "1kbit or more, like 12Mbit",
  duration: "1s to 24h, like 10min",
  name: "one word",
};

function hintOf(spec) {
  const shape = spec.type === "number" ? `1 to ${spec.most}` : (SHAPES[spec.type] ?? "");
  const instead = spec.instead ? `, or ${spec.instead}` : "";
  const optional = spec.required === false ? " (optional)" : "";
  return [shape + instead + optional, spec.help].filter(Boolean).join(". ");
}

// Returns the current value of a setting of `entry`, as the gateway lists it, or undefined if the
// gateway does not list the setting.
export function currentValue(entry, name) {
  if (!entry) return undefined;
  return entry[name] ?? entry.modes?.[name] ?? entry[`${name}_bps`];
}

export function currentText(entry, spec) {
  const value = currentValue(entry, spec.name);
  if (value === undefined) return units.NONE;
  if (spec.type !== "rate") return value === 0 ? units.NONE : String(value);
  return value === 0 ? (spec.instead ?? units.NONE) : units.bitRate(value);
}

// Returns one control: {element, input, value()}. value() is undefined if the user leaves the
// setting unchanged.
function control(spec, entry) {
  const now = currentValue(entry, spec.name);
  if (spec.type === "choice") {
    const select = make(
      "select",
      {name: spec.name},
      now === undefined && spec.required !== true ? make("option", {value: ""}, "unchanged") : null,
      options(spec.words, now),
    );
    return {
      element: labelled(spec.name, select, spec.help),
      input: select,
      value: () => (select.value === "" || select.value === now ? undefined : select.value),
    };
  }
  const isNumber = spec.type === "number";
  const input = make("input", {
    name: spec.name,
    autocomplete: "off",
    spellcheck: "false",
    type: isNumber ? "number" : "text",
    min: isNumber ? 1 : null,
    max: isNumber ? spec.most : null,
    required: spec.required === true,
    placeholder: now === undefined ? null : `now ${currentText(entry, spec)}`,
  });
  return {
    element: labelled(spec.name, input, hintOf(spec)),
    input,
    value: () => (input.value.trim() === "" ? undefined : input.value.trim()),
  };
}

// Returns controls for several KEY=VALUE, or for the one word that replaces all of them.
function settingsControl(argument, entry) {
  const controls = argument.settings.map((spec) => [spec.name, control(spec, entry)]);
  const instead =
    argument.instead &&
    make("input", {
      type: "checkbox",
      id: newId("instead"),
      onchange: () =>
        controls.forEach(([, {input}]) => {
          input.disabled = instead.checked;
        }),
    });
  return {
    element: make(
      "fieldset",
      {},
      make("legend", {}, "New values; the others stay unchanged"),
      make(
        "div",
        {class: "stack"},
        controls.map(([, {element}]) => element),
        instead &&
          make(
            "div",
            {},
            instead,
            " ",
            make("label", {for: instead.id}, argument.help || argument.instead),
          ),
      ),
    ),
    value() {
      if (instead?.checked) return argument.instead;
      const changed = controls
        .map(([name, {value}]) => [name, value()])
        .filter(([, value]) => value !== undefined);
      if (changed.length === 0) throw new RangeError("Change at least one value.");
      return Object.fromEntries(changed);
    },
  };
}

// Returns controls for all arguments of a command except `given`, which show the current values of
// `entry`.
export function argumentsForm(command, given, entry) {
  const controls = command.arguments
    .filter(({name}) => !(name in given))
    .map((argument) => [
      argument.name,
      argument.type === "settings"
        ? settingsControl(argument, entry)
        : control(argument, undefined),
    ]);
  return {
    element: make(
      "div",
      {class: "stack"},
      controls.map(([, {element}]) => element),
    ),
    // Throws RangeError if the settings are all unchanged.
    values() {
      const values = {...given};
      for (const [name, {value}] of controls) {
        const said = value();
        if (said !== undefined) values[name] = said;
      }
      return values;
    },
  };
}
