#include "config/keys/all_keys.h"

#include <algorithm>

#include "config/link/read_link_changes.h"
#include "config/link/read_sat_link.h"
#include "config/readers/read_access.h"
#include "config/readers/read_classes.h"
#include "config/readers/read_common.h"
#include "config/readers/read_gateway.h"
#include "config/readers/read_limits.h"
#include "config/readers/read_links.h"
#include "config/readers/read_peers.h"
#include "config/readers/read_rate_control.h"
#include "config/readers/read_records.h"
#include "config/readers/read_rules.h"
#include "config/readers/read_security.h"
#include "config/readers/read_stp.h"

namespace satrelay::config {
namespace {

class List {
 public:
  template <typename Section>
  void add(const std::string& path, const Keys<Section>& keys) {
    const Section standard{};
    for (const Key<Section>& row : keys) {
      const KeyText& text = row.text;
      const bool is_part = text.allowed.empty();
      // The key is a part of the document, such as `stp.feedback`. Another call of add() adds the
      // keys in this part.
      if (is_part) continue;
      const bool required = !text.required.empty();
      list_.push_back({.path = path + text.name,
                       .fallback = required                ? ""
                                   : text.fallback.empty() ? row.show(standard)
                                                           : text.fallback,
                       .allowed = text.allowed,
                       .unit = row.unit,
                       .required = required,
                       .reload = text.reload,
                       .help = text.help,
                       .since = text.since});
    }
  }
  std::vector<ListedKey> list() && { return std::move(list_); }

 private:
  std::vector<ListedKey> list_;
};

}  // namespace

std::string ListedKey::values() const {
  if (required) return "required, " + allowed;
  if (fallback.empty()) return allowed;
  return fallback + " (default)" + (allowed.starts_with("or ") ? " " : ", ") + allowed;
}

std::vector<ListedKey> gateway_key_list() {
  List list;
  list.add("ports.lan.", port_keys());
  list.add("ports.wan.", port_keys());
  list.add("gateway.", address_keys());
  list.add("links.NAME.", control_keys());
  list.add("links.NAME.", link_keys());
  list.add("security.", security_keys());
  list.add("peers[].", peer_keys());
  list.add("classes.NAME.", class_keys());
  list.add("rules[].", rule_keys());
  list.add("rules[].match.", match_keys());
  list.add("stp.", stp_keys());
  list.add("stp.feedback.", feedback_keys());
  list.add("limits.", limits_keys());
  list.add("tcp.", tcp_keys());
  list.add("worker.", worker_keys());
  list.add("access.", gateway_access_keys());
  list.add("access.stats.", access_keys());
  list.add("access.control.", access_keys());
  list.add("records.", records_keys());
  list.add("records.ipfix.", ipfix_keys());
  list.add("", gateway_keys());
  return std::move(list).list();
}

std::vector<ListedKey> link_key_list() {
  List list;
  list.add("ports.a.", port_keys());
  list.add("ports.b.", port_keys());
  for (const std::string way : {"both.", "a_to_b.", "b_to_a."}) {
    list.add(way, direction_keys());
    list.add(way + "gilbert_elliott.", gilbert_elliott_keys());
  }
  list.add("changes[].", change_keys(AnnouncedKey::kUnknown));
  list.add("worker.", only_worker_keys());
  list.add("", sat_link_keys());
  return std::move(list).list();
}

std::string key_table(const std::vector<ListedKey>& keys, std::string_view under) {
  std::string text;
  for (const ListedKey& key : keys) {
    if (!key.path.starts_with(under)) continue;
    text += key.path + ": " + key.values() + "\n    " + key.help + " " +
            (key.reload == Reload::kLive ? "A reload changes it." : "A change needs a restart.") +
            " Since " + key.since + ".\n";
  }
  return text;
}

}  // namespace satrelay::config
