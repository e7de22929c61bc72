// The fields of a reply of the stats socket as text. One that is missing, or of another kind
// (another version of the gateway), is "-".
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "pep/base/counter_fields.h"

namespace satrelay::ctl {

using Json = nlohmann::ordered_json;

const Json& member(const Json& object, const char* key);  // null if there is none
std::optional<std::uint64_t> number(const Json& object, const char* key);
// Control characters become '?': what comes over the socket must not move the terminal's cursor.
std::string text(const Json& object, const char* key);

using Scale = std::string (*)(std::uint64_t);  // relay/text/numbers.h
std::string shown(const Json& object, const char* key, Scale scale);
Scale scale_of(CounterUnit unit);
// A counter, in its unit.
template <typename Struct>
std::string shown(const Json& object, const CounterField<Struct>& field) {
  return shown(object, field.name, scale_of(field.unit));
}
// The same, and "-" for 0 too: where that says that there is none.
std::string unless_zero(const Json& object, const char* key, Scale scale);
std::string milliseconds(std::uint64_t n);
std::string bits_per_second(std::uint64_t n);
// Names with null what the reply of `command` leaves out, as it was never measured: the socket has
// no null.
void name_unmeasured(std::string_view command, Json& reply);
// Of a peer, in words: "alive", "wrong key?"
std::string state_words(const std::string& state);
// "198.51.100.7:443", "[2001:db8::7]:443"
std::string endpoint(const Json& flow, const char* address, const char* port);

}  // namespace satrelay::ctl
