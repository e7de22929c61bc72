// Converts fields of a reply of the stats socket to text. A field that is missing, or has another
// type (another version of the gateway), becomes "-".
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "pep/base/counter_fields.h"

namespace satrelay::ctl {

using Json = nlohmann::ordered_json;

const Json& member(const Json& object, const char* key);  // the member `key`; null if it is missing
std::optional<std::uint64_t> number(const Json& object, const char* key);
// Whether the field `key` of a reply identifies something: then its value is a string of digits.
bool is_identifier(std::string_view key);
// Returns the identifier in the field `key`; "" if it is missing.
std::string identifier(const Json& object, const char* key);
// Control characters become '?': text from the socket must not control the terminal.
std::string text(const Json& object, const char* key);

using Scale = std::string (*)(std::uint64_t);  // such as text::plain (relay/text/numbers.h)
std::string shown(const Json& object, const char* key, Scale scale);
Scale scale_of(CounterUnit unit);
// The value of a counter as text, in the unit of the counter.
template <typename Struct>
std::string shown(const Json& object, const CounterField<Struct>& field) {
  return shown(object, field.name, scale_of(field.unit));
}
// Returns the same as shown(), but "-" instead of 0. Use this if 0 means that there is no value.
std::string unless_zero(const Json& object, const char* key, Scale scale);
std::string milliseconds(std::uint64_t n);
std::string bits_per_second(std::uint64_t n);
// The socket cannot send null, so a reply leaves out fields that were never measured. Adds these
// fields with the value null to the reply of `command`.
void name_unmeasured(std::string_view command, Json& reply);
// The state of a peer in words, such as "alive" or "wrong key?".
std::string state_words(const std::string& state);
// Returns an address and a port, such as "198.51.100.7:443" or "[2001:db8::7]:443".
std::string endpoint(const Json& flow, const char* address, const char* port);

}  // namespace satrelay::ctl
