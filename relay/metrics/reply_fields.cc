#include "relay/metrics/reply_fields.h"

#include "relay/client/reply.h"

namespace satrelay::metrics {

std::optional<std::string_view> word(const nlohmann::ordered_json& object, const char* key) {
  const auto& value = ctl::member(object, key);
  if (!value.is_string()) return std::nullopt;
  return value.get_ref<const std::string&>();
}

std::optional<std::string> label_of(const nlohmann::ordered_json& entry, const char* label) {
  if (const auto number = ctl::number(entry, label)) return std::to_string(*number);
  const auto name = word(entry, "name");
  return name ? std::optional<std::string>(*name) : std::nullopt;
}

}  // namespace satrelay::metrics
