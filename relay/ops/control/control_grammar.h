// The table of commands of a gateway's control socket. The gateway parses lines by this table, and
// writes its help text from it. satrelayctl derives its own commands from the same table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/model/words.h"
#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::ops {

enum class ControlVerb : std::uint8_t {
  kCapacity,
  kRate,
  kSet,
  kClass,
  kBypass,
  kDrain,
  kReload,
  kReloadResult,
  kHelp,
  kQuit,
};

enum class ValueType : std::uint8_t {
  kName,      // any word
  kChoice,    // one word of the list `words`
  kNumber,    // a whole number from 1 to `most`
  kRate,      // a rate of 1 kbit/s or more, such as 12Mbit
  kDuration,  // a time of 1s to 24h
};

// A listing of the stats socket that contains the possible values of a name. satrelayctl completes
// words from this listing. Each entry has its name in the field `field` or, if that is empty, in
// the field `otherwise`.
struct NamesIn {
  const char* listing = nullptr;
  const char* field = "name";
  const char* otherwise = "name";
};

struct ControlValueSpec {
  // Name of the argument, such as "LINK", or key of the setting, such as "weight".
  const char* name;
  ValueType type;
  const char* help;
  std::span<const std::string_view> words = {};
  // A word that is allowed instead of the value, such as "configured".
  const char* instead = nullptr;
  std::uint16_t most = 0;  // only for kNumber: the largest value
  NamesIn names = {};      // only for kName
};

enum class Presence : std::uint8_t {
  kRequired,
  // The client may leave the argument out. Only the last argument may be optional. satrelayctl
  // offers an optional argument as an option.
  kOptional,
};

struct ControlArgument {
  ControlValueSpec value;
  Presence presence = Presence::kRequired;
  // If this is not empty, the argument is the rest of the line. The rest is either one or more
  // KEY=VALUE, with each key at most once, or only the word `value.instead`.
  std::span<const ControlValueSpec> settings = {};
};

// Says whether a command only shows something, or changes something and causes an event. The right
// does not restrict clients: each client that may connect may give all commands.
enum class Right : std::uint8_t { kLook, kChange };

// How long satrelayctl waits after the gateway has answered a command.
enum class ControlUse : std::uint8_t {
  kAnswered,    // no wait: the command is complete with the answer
  kUntilRead,   // until the gateway has read its configuration: see kReloadResult
  kUntilOver,   // until the gateway has stopped
  kSocketOnly,  // satrelayctl does not offer the command; it is for other clients of the socket
};

struct ControlCommandSpec {
  ControlVerb verb;
  std::string_view name;  // name of the command: one word, or two
  const char* help;
  std::span<const ControlArgument> arguments;
  Right right;
  ControlUse use;
};

namespace control_words {
inline constexpr std::string_view kWays[] = {"send", "receive"};
inline constexpr std::string_view kSwitch[] = {"on", "off"};
// The words of an enumeration in the configuration, in the order of the enumeration's values.
template <typename Enum>
inline constexpr auto kOf = [] {
  std::array<std::string_view, std::size(config::kWords<Enum>)> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = config::kWords<Enum>[i].first;
  return words;
}();
}  // namespace control_words

// The settings of `set`, in the order of ControlLine::settings.
enum class RuleSetting : std::uint8_t {
  kCompress,
  kHandshake,
  kAck,
  kClose,
  kWindow,
  kDelivery,
  kTtl,
  kMptcp
};
inline constexpr ControlValueSpec kRuleSettings[] = {
    {"compress", ValueType::kChoice, "also for open connections",
     control_words::kOf<config::Compress>},
    {"handshake", ValueType::kChoice, "", control_words::kOf<config::HandshakeMode>},
    {"ack", ValueType::kChoice, "", control_words::kOf<config::AckMode>},
    {"close", ValueType::kChoice, "", control_words::kOf<config::CloseMode>},
    {"window", ValueType::kChoice, "", control_words::kOf<config::WindowMode>},
    {"delivery", ValueType::kChoice, "", control_words::kOf<config::DeliveryMode>},
    {"ttl", ValueType::kChoice, "", control_words::kOf<config::TtlMode>},
    {"mptcp", ValueType::kChoice, "", control_words::kOf<config::MptcpMode>},
};
enum class ClassSetting : std::uint8_t { kWeight, kGuaranteed, kMaximum };
inline constexpr ControlValueSpec kClassSettings[] = {
    {.name = "weight", .type = ValueType::kNumber, .help = "", .most = 255},
    {.name = "guaranteed", .type = ValueType::kRate, .help = "", .instead = "none"},
    {.name = "maximum", .type = ValueType::kRate, .help = "", .instead = "none"},
};

inline constexpr ControlArgument kCapacityArguments[] = {
    {{.name = "LINK",
      .type = ValueType::kName,
      .help = "Its name under links: in the configuration",
      .names = {"peers", "link", "link"}}},
    {{"WAY", ValueType::kChoice,
      "send: applies here at once; receive: announced to the far gateway", control_words::kWays}},
    {{.name = "RATE",
      .type = ValueType::kRate,
      .help = "Like 12Mbit, at most the configured rate; configured: back to the configured rate",
      .instead = "configured"}},
};
inline constexpr ControlArgument kRateArguments[] = {
    {{.name = "PEER", .type = ValueType::kName, .help = "Its name", .names = {"peers"}}},
    {{.name = "RATE",
      .type = ValueType::kRate,
      .help = "Like 20Mbit; configured: the full rate of the link",
      .instead = "configured"}},
};
inline constexpr ControlArgument kSetArguments[] = {
    {{.name = "RULE",
      .type = ValueType::kName,
      .help = "Its name or its number",
      .names = {"rules", "name", "rule"}}},
    {{"SWITCH=VALUE", ValueType::kName, ""}, Presence::kRequired, kRuleSettings},
};
inline constexpr ControlArgument kClassArguments[] = {
    {{.name = "NAME", .type = ValueType::kName, .help = "Its name", .names = {"classes"}}},
    {{.name = "KEY=VALUE",
      .type = ValueType::kName,
      .help = "configured: back to the values of the configuration",
      .instead = "configured"},
     Presence::kRequired,
     kClassSettings},
};
inline constexpr ControlArgument kBypassArguments[] = {
    {{"STATE", ValueType::kChoice, "on or off", control_words::kSwitch}},
};
inline constexpr ControlArgument kDrainArguments[] = {
    {{"TIMEOUT", ValueType::kDuration,
      "Like 10min: flows still open by then are reset; without a time, none is reset"},
     Presence::kOptional},
};

inline constexpr ControlCommandSpec kControlCommands[] = {
    {ControlVerb::kCapacity, "capacity",
     "Sets the present capacity of a link (adaptive coding): 12Mbit", kCapacityArguments,
     Right::kChange, ControlUse::kAnswered},
    {ControlVerb::kRate, "rate", "Limits the rate sent to a peer: 12Mbit", kRateArguments,
     Right::kChange, ControlUse::kAnswered},
    {ControlVerb::kSet, "set",
     "Sets functions of a rule until the next reload: compress=off window=mirror", kSetArguments,
     Right::kChange, ControlUse::kAnswered},
    {ControlVerb::kClass, "class",
     "Sets the share of a class until the next reload: weight=4 guaranteed=2Mbit maximum=none",
     kClassArguments, Right::kChange, ControlUse::kAnswered},
    {ControlVerb::kBypass, "bypass",
     "New flows are bridged while bypass is on; open flows continue", kBypassArguments,
     Right::kChange, ControlUse::kAnswered},
    {ControlVerb::kDrain, "drain",
     "New flows are bridged, and the gateway stops when no flow is left; a second drain stops it "
     "at once",
     kDrainArguments, Right::kChange, ControlUse::kUntilOver},
    {ControlVerb::kReload,
     "reload",
     "Reads the configuration again, and applies it as a whole or refuses it with the reason",
     {},
     Right::kChange,
     ControlUse::kUntilRead},
    {ControlVerb::kReloadResult,
     "reload result",
     "The result of the last reload: ok, reading or an error",
     {},
     Right::kLook,
     ControlUse::kSocketOnly},
    {ControlVerb::kHelp, "help", "This list", {}, Right::kLook, ControlUse::kSocketOnly},
    {ControlVerb::kQuit,
     "quit",
     "Ends this connection (the gateway runs on)",
     {},
     Right::kLook,
     ControlUse::kSocketOnly},
};

// A parsed value, which fits its type.
struct ControlValue {
  std::string_view text;
  bool is_instead = false;
  std::size_t choice = 0;                    // only for kChoice: index of the chosen word
  std::uint64_t number = 0;                  // only for kNumber: the value
  BitRate rate;                              // only for kRate: the value; zero if `is_instead`
  Duration duration = Duration::infinite();  // only for kDuration: the value
};

// A line that was parsed and that the table allows. The texts point into the text that was parsed.
struct ControlLine {
  static constexpr std::size_t kMostArguments = 3;
  static constexpr std::size_t kMostSettings = 8;

  const ControlCommandSpec* command = nullptr;
  // "panel:NAME" if the panel sends the line for its user NAME, otherwise "".
  std::string_view on_behalf_of = {};
  // An argument that was left out has a default ControlValue.
  std::array<ControlValue, kMostArguments> arguments;
  std::array<std::optional<ControlValue>, kMostSettings> settings;

  template <typename Setting>
  const std::optional<ControlValue>& operator[](Setting setting) const {
    return settings[static_cast<std::size_t>(setting)];
  }
};

struct ControlLineParse {
  std::optional<ControlLine> line;
  // If `line` is nullopt, this message names the mistake and shows the allowed syntax.
  std::string error;
};

// The words "as panel:NAME" before a command say that the panel sends the command on behalf of its
// user NAME. NAME has at most 32 characters: letters, digits, '_', '-', '.' and '@'.
inline constexpr std::string_view kOnBehalfWord = "as";
inline constexpr std::string_view kPanelPrefix = "panel:";
// True if `text` has the form "panel:NAME".
bool is_panel_user(std::string_view text);

// Parses a line, which may contain any bytes. Words are separated by spaces or tabs.
[[nodiscard]] ControlLineParse parse_control_line(std::string_view text);

// Returns the syntax of a command, such as "capacity LINK send|receive RATE|configured".
[[nodiscard]] std::string synopsis(const ControlCommandSpec& command);
// Returns the syntax of settings, such as "compress=off|auto|on (also for open connections),
// handshake=local|remote|auto, ...".
[[nodiscard]] std::string settings_help(std::span<const ControlValueSpec> settings);
// Returns the help text: one line for each command, and the words that may precede a command.
[[nodiscard]] std::string control_help();

}  // namespace satrelay::ops
