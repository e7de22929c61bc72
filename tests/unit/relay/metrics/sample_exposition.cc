// Prints the metrics of a gateway that has one of everything, so that checks can read them with
// other programs: sample_exposition text|openmetrics
#include <iostream>
#include <string_view>

#include "relay/metrics/exposition.h"
#include "tests/unit/relay/metrics/sample_readings.h"

int main(int argc, char** argv) {
  using namespace satrelay::metrics;
  const bool is_open_metrics = argc > 1 && std::string_view(argv[1]) == "openmetrics";
  std::cout << expose(sample_readings(),
                      is_open_metrics ? ExpositionFormat::kOpenMetrics : ExpositionFormat::kText);
  return std::cout ? 0 : 1;
}
