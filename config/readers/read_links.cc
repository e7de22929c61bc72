#include "config/readers/read_links.h"

#include <string>
#include <string_view>

#include "config/keys/kinds.h"
#include "config/readers/read_common.h"
#include "config/readers/read_rate_control.h"
#include "config/text/format.h"

namespace satrelay::config {
namespace {

constexpr Bounds<Duration> kBridgedQueue{Duration::milliseconds(1), Duration::seconds(10)};

Kind<std::optional<double>> bridged_share() {
  return {.read = [](const Value& value) -> std::optional<double> {
            const double share = value.share();
            if (share < 0.01 || share > 0.9) {
              value.refuse("leaves too little to one side", "write 1% to 90%");
            }
            return share;
          },
          .show =
              [](const std::optional<double>& share) {
                return share ? share_text(*share) : std::string("none");
              },
          .allowed = "1% to 90%",
          .unit = "share"};
}

std::string send_rate_of(const Link& link) {
  return link.finds_capacity() && link.send_rate == kMostLinkRate ? "none"
                                                                  : to_text(link.send_rate);
}

// The rates of a link: the capacity of its modems. If a link has `capacity: find`, `send_rate` is a
// ceiling, and `receive_rate` is used only to plan memory.
void read_rates(const Fields& fields, Link& link) {
  bool finds = false;
  fields.read("capacity", [&](const Value&) { finds = finds_capacity(fields); });
  // If the capacity has a mistake, whether the rates must be there is not known.
  if (!finds && fields.are_sound({"capacity"})) {
    link_keys().must_have(fields, "send_rate");
    link_keys().must_have(fields, "receive_rate");
  }
  if (finds) {
    link.send_rate = kMostLinkRate;
    link.receive_rate = kAssumedRate;
  }
  fields.read("send_rate", [&](const Value& rate) { link.send_rate = rate.rate(kLinkRate); });
  fields.read("receive_rate", [&](const Value& rate) { link.receive_rate = rate.rate(kLinkRate); });
  const bool is_known = fields.are_sound({"send_rate"});
  link.control = read_rate_control(fields, {.rate = is_known ? link.send_rate : kMostLinkRate});
}

void read_link(const Value& entry, const std::vector<std::string>& known, Link& link) {
  const Fields fields = entry.fields(known);
  read_rates(fields, link);
  link_keys().read(fields, link);
}

}  // namespace

const Keys<Link>& link_keys() {
  static const Keys<Link> keys({
      key_of_section<Link>(
          {.name = "send_rate",
           .reload = Reload::kLive,
           .help = "The rate that the modem can send; with capacity: find a ceiling.",
           .allowed = "1kbit to 100Gbit",
           .required = "write the rate that the modem can send, like 50Mbit, or capacity: find if "
                       "it is not known"},
          send_rate_of, "rate"),
      key_of_section<Link>(
          {.name = "receive_rate",
           .help = "The rate that the far modem can send.",
           .allowed = "1kbit to 100Gbit",
           .required = "write the rate that the far modem can send, like 50Mbit"},
          [](const Link& link) { return to_text(link.receive_rate); }, "rate"),
      key<Link>({.name = "overhead",
                 .help = "Bytes that each packet costs on the link beyond its IP bytes."},
                &Link::overhead, overhead()),
      key<Link>(
          {.name = "bridged_share",
           .help = "The share of the link that bridged frames without a class are guaranteed."},
          &Link::bridged_share, bridged_share()),
      key<Link>({.name = "bridged_queue",
                 .reload = Reload::kLive,
                 .help = "How long a queue of bridged frames may stand."},
                &Link::bridged_queue, duration(kBridgedQueue)),
  });
  return keys;
}

std::vector<Link> read_links(const Value& value) {
  std::vector<std::string> known = link_keys().names();
  known.insert(known.end(), control_keys().names().begin(), control_keys().names().end());
  std::vector<Link> links;
  for (const auto& each :
       value.named_entries("write a map of links by name, like {sat: {send_rate: 50Mbit, "
                           "receive_rate: 50Mbit}}")) {
    const std::string& name = each.first;
    const Value& entry = each.second;
    // A link with a mistake is in the list too: its name is known, and peers may have it.
    links.emplace_back().name = name;
    entry.attempt([&] { check_name(entry, name); });
    entry.attempt([&] { read_link(entry, known, links.back()); });
  }
  if (links.empty()) value.fail("is empty; describe at least one link");
  return links;
}

}  // namespace satrelay::config
