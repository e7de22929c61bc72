// Formats the histograms of durations from the gateway's buckets.
#include <charconv>
#include <string_view>

#include "relay/ops/stats/histogram_list.h"
#include "relay/satrelayctl/views/listing.h"
#include "relay/satrelayctl/views/render.h"
#include "relay/text/numbers.h"

namespace satrelay::ctl {
namespace {

const HistogramField* histogram_of(const Json& each) {
  const std::string name = text(each, "name");
  for (const HistogramField* field : ops::kHistograms) {
    if (name == field->name) return field;
  }
  return nullptr;
}

// Returns the thing that a histogram describes, such as "class voice".
std::string whose(const Json& each) {
  const HistogramField* field = histogram_of(each);
  if (field == nullptr || *field->label == '\0') return "";
  return std::string(field->label) + ' ' + text(each, field->label);
}

std::string what(const Json& each) {
  std::string name = text(each, "name");
  const std::size_t unit = name.rfind('_');
  if (unit != std::string::npos) name.resize(unit);
  return name;
}

std::string in_unit(const HistogramField& field, std::uint64_t value) {
  return scale_of(field.unit)(value);
}

std::string mean(const Json& each) {
  const HistogramField* field = histogram_of(each);
  const auto count = number(each, "count");
  const auto sum = number(each, "sum");
  if (field == nullptr || !count || !sum || *count == 0) return "-";
  return in_unit(*field, *sum / *count);
}

// Returns the lowest bucket bound B such that at least `per_thousand` thousandths of the values are
// B or less.
std::string most_of(const Json& each, std::uint64_t per_thousand) {
  const HistogramField* field = histogram_of(each);
  const std::uint64_t count = number(each, "count").value_or(0);
  if (field == nullptr || count == 0) return "-";
  for (const std::uint64_t bound : field->bounds) {
    const auto up_to = number(each, ("le_" + std::to_string(bound)).c_str());
    if (up_to && *up_to * 1000 >= count * per_thousand) return in_unit(*field, bound);
  }
  return "> " + in_unit(*field, field->bounds.back());
}

ListingColumn up_to(std::string title, std::uint64_t per_thousand) {
  return right(words(std::move(title),
                     [per_thousand](const Json& each) { return most_of(each, per_thousand); }));
}

}  // namespace

std::string render_histograms(const Json& histograms, std::size_t width) {
  return format_listing(
      histograms,
      {words("what", what), words("of", whose), figure("count", "count", text::count),
       right(words("mean", mean)), up_to("50% within", 500), up_to("99% within", 990),
       up_to("99.9% within", 999)},
      width);
}

}  // namespace satrelay::ctl
