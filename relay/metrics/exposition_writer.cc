#include "relay/metrics/exposition_writer.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "pep/base/check.h"

namespace satrelay::metrics {
namespace {

enum class Quotes { kEscaped, kPlain };

void append_escaped(std::string& out, std::string_view text, Quotes quotes) {
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '"':
        out += quotes == Quotes::kEscaped ? "\\\"" : "\"";
        break;
      default:
        out += c;
    }
  }
}

std::string_view suffix(FamilyKind kind) {
  switch (kind) {
    case FamilyKind::kCounter:
      return "_total";
    case FamilyKind::kInfo:
      return "_info";
    case FamilyKind::kGauge:
    case FamilyKind::kHistogram:  // the suffix differs from sample to sample
      break;
  }
  return "";
}

// The text format has no type "info", so an information family is written as a gauge.
std::string_view type_name(FamilyKind kind, ExpositionFormat format) {
  switch (kind) {
    case FamilyKind::kCounter:
      return "counter";
    case FamilyKind::kInfo:
      return format == ExpositionFormat::kOpenMetrics ? "info" : "gauge";
    case FamilyKind::kHistogram:
      return "histogram";
    case FamilyKind::kGauge:
      break;
  }
  return "gauge";
}

// An OpenMetrics bound must be written with a decimal point or an exponent, so 1 becomes "1.0".
std::string bound_of(double bound) {
  std::string text = fmt::format("{}", bound);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string_view content_type(ExpositionFormat format) {
  return format == ExpositionFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

Labels& Labels::add(std::string_view name, std::string_view value) {
  if (!text_.empty()) text_ += ',';
  text_.append(name).append("=\"");
  append_escaped(text_, value, Quotes::kEscaped);
  text_ += '"';
  return *this;
}

void ExpositionWriter::begin(Family family) {
  SATRELAY_CHECK(family.unit.empty() || family.name.ends_with(family.unit));
  family_ = std::move(family);
  sample_name_ = fmt::format("satrelay_{}{}", family_.name, suffix(family_.kind));
  head_is_due_ = true;
}

// In the text format, a family has the same name as its samples. In OpenMetrics, the family's name
// lacks the suffix, such as _total.
void ExpositionWriter::write_head() {
  head_is_due_ = false;
  const bool is_open_metrics = format_ == ExpositionFormat::kOpenMetrics;
  const std::string name = is_open_metrics ? "satrelay_" + family_.name : sample_name_;
  out_.append("# HELP ").append(name).append(" ");
  append_escaped(out_, family_.help, is_open_metrics ? Quotes::kEscaped : Quotes::kPlain);
  fmt::format_to(std::back_inserter(out_), "\n# TYPE {} {}\n", name,
                 type_name(family_.kind, format_));
  if (is_open_metrics && !family_.unit.empty()) {
    fmt::format_to(std::back_inserter(out_), "# UNIT {} {}\n", name, family_.unit);
  }
}

void ExpositionWriter::write_name(const Labels& labels, std::string_view suffix) {
  if (head_is_due_) write_head();
  out_.append(sample_name_).append(suffix);
  if (!labels.text().empty()) out_.append("{").append(labels.text()).append("}");
  out_ += ' ';
}

void ExpositionWriter::sample(const Labels& labels, std::uint64_t value) {
  write_name(labels);
  fmt::format_to(std::back_inserter(out_), "{}\n", value);
}

void ExpositionWriter::sample(const Labels& labels, double value) {
  write_name(labels);
  fmt::format_to(std::back_inserter(out_), "{}\n", value);
}

void ExpositionWriter::histogram(const Labels& labels, std::span<const Bucket> buckets,
                                 std::uint64_t count, double sum) {
  const auto up_to = [&](std::string_view bound, std::uint64_t values) {
    write_name(Labels(labels).add("le", bound), "_bucket");
    fmt::format_to(std::back_inserter(out_), "{}\n", values);
  };
  for (const Bucket& bucket : buckets) up_to(bound_of(bucket.bound), bucket.count);
  up_to("+Inf", count);
  write_name(labels, "_sum");
  fmt::format_to(std::back_inserter(out_), "{}\n", sum);
  write_name(labels, "_count");
  fmt::format_to(std::back_inserter(out_), "{}\n", count);
}

std::string ExpositionWriter::finish() {
  if (format_ == ExpositionFormat::kOpenMetrics) out_ += "# EOF\n";
  return std::move(out_);
}

}  // namespace satrelay::metrics
