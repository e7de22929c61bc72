#include "relay/satpanel/command_line.h"

#include <algorithm>
#include <span>

#include "relay/satpanel/http/json_listing.h"

namespace satrelay::panel {
namespace {

using Json = nlohmann::ordered_json;

const char* word_of(ops::ValueType type) {
  switch (type) {
    case ops::ValueType::kName:
      return "name";
    case ops::ValueType::kChoice:
      return "choice";
    case ops::ValueType::kNumber:
      return "number";
    case ops::ValueType::kRate:
      return "rate";
    case ops::ValueType::kDuration:
      return "duration";
  }
  return "";
}

Json describe(const ops::ControlValueSpec& spec) {
  Json value{{"name", spec.name}, {"type", word_of(spec.type)}, {"help", spec.help}};
  if (!spec.words.empty()) {
    value["words"] = Json::array();
    for (const std::string_view word : spec.words) value["words"].push_back(std::string(word));
  }
  if (spec.instead != nullptr) value["instead"] = spec.instead;
  if (spec.most != 0) value["most"] = spec.most;
  return value;
}

Json describe(const ops::ControlArgument& argument) {
  Json value = describe(argument.value);
  value["required"] = argument.presence == ops::Presence::kRequired;
  if (argument.settings.empty()) return value;
  value["type"] = "settings";
  value["settings"] = Json::array();
  for (const auto& setting : argument.settings) value["settings"].push_back(describe(setting));
  return value;
}

Json schema_of(const ops::ControlValueSpec& spec) {
  Json schema{{"type", "string"}, {"description", spec.help}};
  if (spec.words.empty()) return schema;
  schema["enum"] = Json::array();
  for (const std::string_view word : spec.words) schema["enum"].push_back(std::string(word));
  if (spec.instead != nullptr) schema["enum"].push_back(spec.instead);
  return schema;
}

Json schema_of(const ops::ControlArgument& argument) {
  if (argument.settings.empty()) return schema_of(argument.value);
  Json settings{{"type", "object"}, {"properties", Json::object()}};
  for (const auto& setting : argument.settings) {
    settings["properties"][setting.name] = schema_of(setting);
  }
  if (argument.value.instead == nullptr) return settings;
  return {
      {"oneOf", {std::move(settings), {{"type", "string"}, {"enum", {argument.value.instead}}}}}};
}

// Returns the value as one word of a command line. Throws BadRequest if the value has characters
// that would end the word or the line.
std::string word_from(const std::string& name, const Json& value) {
  std::string text;
  if (value.is_string()) {
    text = value.get<std::string>();
  } else if (value.is_number_unsigned()) {
    text = value.dump();
  } else {
    throw BadRequest(name + ": write a text");
  }
  const bool is_word = !text.empty() && text.size() <= 128 && std::ranges::all_of(text, [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '\x7f';
  });
  if (!is_word) throw BadRequest(name + ": write one word, without spaces");
  return text;
}

std::string settings_from(const ops::ControlArgument& argument, const Json& value) {
  if (!value.is_object()) return ' ' + word_from(argument.value.name, value);
  std::string text;
  for (const auto& [key, each] : value.items()) {
    const auto known = std::ranges::find(argument.settings, std::string_view(key),
                                         [](const auto& s) { return std::string_view(s.name); });
    if (known == argument.settings.end()) throw BadRequest("there is no setting " + key);
    text += ' ' + key + '=' + word_from(key, each);
  }
  if (text.empty()) throw BadRequest(std::string(argument.value.name) + ": nothing to set");
  return text;
}

}  // namespace

Role role_for(const ops::ControlCommandSpec& spec) {
  return spec.use == ops::ControlUse::kAnswered ? Role::kOperator : Role::kAdministrator;
}

const ops::ControlCommandSpec* find_command(std::string_view name) {
  for (const ops::ControlCommandSpec& spec : ops::kControlCommands) {
    if (spec.use != ops::ControlUse::kSocketOnly && spec.name == name) return &spec;
  }
  return nullptr;
}

Json describe_commands(Role role) {
  Json commands = Json::array();
  for (const ops::ControlCommandSpec& spec : ops::kControlCommands) {
    if (spec.use == ops::ControlUse::kSocketOnly) continue;
    Json arguments = Json::array();
    for (const auto& argument : spec.arguments) arguments.push_back(describe(argument));
    commands.push_back({{"name", std::string(spec.name)},
                        {"help", spec.help},
                        {"role", std::string(to_string(role_for(spec)))},
                        {"interrupts", spec.use == ops::ControlUse::kUntilOver},
                        {"allowed", role >= role_for(spec)},
                        {"arguments", std::move(arguments)}});
  }
  return commands;
}

Json schema_of(const ops::ControlCommandSpec& spec) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const auto& argument : spec.arguments) {
    properties[argument.value.name] = schema_of(argument);
    if (argument.presence == ops::Presence::kRequired) required.push_back(argument.value.name);
  }
  Json arguments{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) arguments["required"] = std::move(required);
  return {{"type", "object"}, {"properties", {{"arguments", std::move(arguments)}}}};
}

std::string line_of(const ops::ControlCommandSpec& spec, const Json& arguments) {
  if (!arguments.is_object()) throw BadRequest("arguments: write an object");
  std::string line(spec.name);
  std::size_t taken = 0;
  for (const auto& argument : spec.arguments) {
    const auto given = arguments.find(argument.value.name);
    if (given == arguments.end()) {
      if (argument.presence == ops::Presence::kOptional) continue;
      throw BadRequest(std::string(argument.value.name) + " is missing; " + ops::synopsis(spec));
    }
    ++taken;
    line += argument.settings.empty() ? ' ' + word_from(argument.value.name, *given)
                                      : settings_from(argument, *given);
  }
  if (taken != arguments.size()) throw BadRequest("too many arguments; " + ops::synopsis(spec));
  if (const auto parse = ops::parse_control_line(line); !parse.line) throw BadRequest(parse.error);
  return line;
}

}  // namespace satrelay::panel
