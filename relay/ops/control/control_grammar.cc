#include "relay/ops/control/control_grammar.h"

#include <algorithm>
#include <initializer_list>

#include "config/model/names.h"
#include "config/text/ip_words.h"
#include "config/text/units.h"
#include "relay/ops/control/control_words.h"
#include "relay/ops/control/nearest_word.h"

namespace satrelay::ops {
namespace {

// The longest line is `set`, with the name of a rule and all eight settings.
using Words = ControlWords<10>;

constexpr Duration kShortest = Duration::seconds(1);
constexpr Duration kLongest = Duration::seconds(24 * 3600);
constexpr std::uint64_t kSlowest = 1'000;  // bits a second

static_assert(std::ranges::all_of(kControlCommands, [](const ControlCommandSpec& command) {
  return command.arguments.size() <= ControlLine::kMostArguments &&
         std::ranges::all_of(command.arguments, [](const ControlArgument& argument) {
           return argument.settings.size() <= ControlLine::kMostSettings;
         });
}));

std::string lower(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// Joins the texts of a range into a list, such as "off, auto or on".
template <typename Range, typename Text>
std::string listed(const Range& range, const Text& text_of) {
  std::string text;
  for (std::size_t i = 0; i < std::size(range); ++i) {
    if (i != 0) text += i + 1 == std::size(range) ? " or " : ", ";
    text += text_of(range[i]);
  }
  return text;
}

// Returns the syntax of a value, such as "send|receive", "RATE|configured" or "1 to 255".
std::string form_of(const ControlValueSpec& value, std::string_view placeholder) {
  std::string text;
  switch (value.type) {
    case ValueType::kChoice:
      for (const std::string_view word : value.words)
        text.append(text.empty() ? "" : "|").append(word);
      return text;
    case ValueType::kNumber:
      return "1 to " + std::to_string(value.most);
    case ValueType::kName:
    case ValueType::kRate:
    case ValueType::kDuration:
      break;
  }
  text = placeholder;
  return value.instead == nullptr ? text : text + '|' + value.instead;
}

std::string form_of(const ControlArgument& argument) {
  if (!argument.settings.empty()) {
    std::string text = argument.value.instead == nullptr ? "" : argument.value.instead;
    return text.append(text.empty() ? "" : "|").append(argument.value.name).append("...");
  }
  std::string text = form_of(argument.value, argument.value.name);
  return argument.presence == Presence::kOptional ? '[' + text + ']' : text;
}

std::string usage(const ControlCommandSpec& command) {
  std::string text = "write: " + synopsis(command);
  for (const ControlArgument& argument : command.arguments) {
    if (argument.settings.empty()) continue;
    text += ", each once: " + listed(argument.settings, [](const auto& each) { return each.name; });
  }
  return text;
}

std::string expected(const ControlValueSpec& spec) {
  switch (spec.type) {
    case ValueType::kName:
      return "a name";
    case ValueType::kChoice:
      return listed(spec.words, [](std::string_view word) { return word; });
    case ValueType::kNumber:
      return "1 to " + std::to_string(spec.most);
    case ValueType::kRate:
      return std::string("1kbit or more, like 12Mbit") +
             (spec.instead == nullptr ? "" : std::string(", or ") + spec.instead);
    case ValueType::kDuration:
      return "1s to 24h, like 10min";
  }
  return "";
}

bool is_read(const ControlValueSpec& spec, ControlValue& value) {
  value.is_instead = spec.instead != nullptr && value.text == spec.instead;
  if (value.is_instead) return true;
  switch (spec.type) {
    case ValueType::kName:
      return true;
    case ValueType::kChoice: {
      const auto found = std::ranges::find(spec.words, value.text);
      value.choice = static_cast<std::size_t>(found - spec.words.begin());
      return found != spec.words.end();
    }
    case ValueType::kNumber: {
      const auto number = config::parse_number(value.text, spec.most);
      value.number = number.value_or(0);
      return value.number != 0;
    }
    case ValueType::kRate: {
      const auto rate = config::parse_rate(value.text);
      value.rate = rate.value_or(BitRate());
      return value.rate.to_bits_per_second() >= kSlowest;
    }
    case ValueType::kDuration: {
      const auto duration = config::parse_duration(value.text);
      value.duration = duration.value_or(Duration::zero());
      return value.duration >= kShortest && value.duration <= kLongest;
    }
  }
  return false;
}

// Parses `text` into `value`. Returns an error message, or "" if `text` is valid.
std::string read(const ControlValueSpec& spec, std::string_view text, ControlValue& value) {
  value.text = text;
  if (is_read(spec, value)) return "";
  return lower(spec.name) + ": write " + expected(spec);
}

// Parses the settings, from words[first] to the last word, into `line`. If the only word is
// `value.instead`, sets `whole.is_instead`. Returns an error message, or "" if the words are valid.
std::string read_settings(const ControlCommandSpec& command, const ControlArgument& argument,
                          const Words& words, std::size_t first, ControlLine& line,
                          ControlValue& whole) {
  whole.text = words[first];
  whole.is_instead = argument.value.instead != nullptr && words.count() == first + 1 &&
                     whole.text == argument.value.instead;
  for (std::size_t i = first; i < words.count() && !whole.is_instead; ++i) {
    const std::size_t equals = words[i].find('=');
    const auto spec =
        std::ranges::find(argument.settings, words[i].substr(0, equals),
                          [](const auto& each) { return std::string_view(each.name); });
    if (equals == std::string_view::npos || spec == argument.settings.end()) return usage(command);
    auto& value = line.settings[static_cast<std::size_t>(spec - argument.settings.begin())];
    if (value) return usage(command);
    std::string error = read(*spec, words[i].substr(equals + 1), value.emplace());
    if (!error.empty()) return error;
  }
  return "";
}

std::string read_arguments(const Words& words, std::size_t first, ControlLine& line) {
  const ControlCommandSpec& command = *line.command;
  const auto arguments = command.arguments;
  const std::size_t given = words.count() - first;
  const auto required = static_cast<std::size_t>(
      std::ranges::count(arguments, Presence::kRequired, &ControlArgument::presence));
  const bool takes_more = !arguments.empty() && !arguments.back().settings.empty();
  if (words.too_many() || given < required || (given > arguments.size() && !takes_more)) {
    return usage(command);
  }
  for (std::size_t i = 0; i < arguments.size() && i < given; ++i) {
    ControlValue& value = line.arguments[i];
    std::string error = arguments[i].settings.empty()
                            ? read(arguments[i].value, words[first + i], value)
                            : read_settings(command, arguments[i], words, first + i, line, value);
    if (!error.empty()) return error;
  }
  return "";
}

std::string unknown(std::string_view word) {
  std::string_view names[std::size(kControlCommands)];
  std::ranges::transform(kControlCommands, names, &ControlCommandSpec::name);
  const auto meant = nearest_word(word, names);
  return "unknown command; " +
         (meant ? "did you mean " + std::string(*meant) + "? Or " : std::string()) +
         "write help for a list";
}

ControlLineParse parse_command(std::string_view text) {
  const Words words(text);
  if (words.count() == 0) return {std::nullopt, "empty line; write help for a list"};
  ControlLine line;
  std::size_t words_of_name = 0;
  for (const ControlCommandSpec& command : kControlCommands) {
    const Words name(command.name);
    if (name.count() <= words_of_name || name.count() > words.count()) continue;
    bool is_it = true;
    for (std::size_t i = 0; i < name.count(); ++i) is_it = is_it && name[i] == words[i];
    if (!is_it) continue;
    line.command = &command;
    words_of_name = name.count();
  }
  if (line.command == nullptr) return {std::nullopt, unknown(words[0])};
  std::string error = read_arguments(words, words_of_name, line);
  if (!error.empty()) return {std::nullopt, std::move(error)};
  return {line, ""};
}

}  // namespace

bool is_panel_user(std::string_view text) {
  if (!text.starts_with(kPanelPrefix)) return false;
  text.remove_prefix(kPanelPrefix.size());
  return !text.empty() && text.size() <= config::kMostNameCharacters &&
         std::ranges::all_of(
             text, [](char c) { return config::is_name_character(c) || c == '.' || c == '@'; });
}

ControlLineParse parse_control_line(std::string_view text) {
  const Words words(text);
  if (words.count() == 0 || words[0] != kOnBehalfWord) return parse_command(text);
  if (words.count() < 3 || !is_panel_user(words[1])) {
    return {std::nullopt, "write: as panel:NAME COMMAND"};
  }
  // The words point into `text`, so the command is the part of `text` behind words[1].
  ControlLineParse parse = parse_command(
      text.substr(static_cast<std::size_t>(words[1].data() + words[1].size() - text.data())));
  if (parse.line) parse.line->on_behalf_of = words[1];
  return parse;
}

std::string synopsis(const ControlCommandSpec& command) {
  std::string text(command.name);
  for (const ControlArgument& argument : command.arguments) text += ' ' + form_of(argument);
  return text;
}

std::string settings_help(std::span<const ControlValueSpec> settings) {
  std::string text;
  for (const ControlValueSpec& setting : settings) {
    if (!text.empty()) text += ", ";
    text.append(setting.name).append("=").append(form_of(setting, "RATE"));
    if (*setting.help != '\0') text.append(" (").append(setting.help).append(")");
  }
  return text;
}

std::string control_help() {
  std::size_t width = 0;
  for (const auto& command : kControlCommands) width = std::max(width, synopsis(command).size());
  std::string text;
  for (const auto& command : kControlCommands) {
    std::string line = synopsis(command);
    line.resize(width + 2, ' ');
    text += line + command.help + '\n';
  }
  std::string line = "as panel:NAME COMMAND";
  line.resize(width + 2, ' ');
  return text + line + "The same command, on behalf of a user of the panel\n";
}

}  // namespace satrelay::ops
