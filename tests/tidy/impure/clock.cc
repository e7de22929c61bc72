// A library that reads the time: tidy-purity must catch it.
#include <chrono>
#include <cstdint>

std::int64_t impure_now();

std::int64_t impure_now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
