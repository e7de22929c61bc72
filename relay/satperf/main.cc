// satperf: measures a path with STP over plain UDP sockets.
#include <exception>
#include <iostream>
#include <stdexcept>

#include "relay/satperf/client.h"
#include "relay/satperf/find.h"
#include "relay/satperf/machine.h"
#include "relay/satperf/options.h"
#include "relay/satperf/server.h"

int main(int argc, char** argv) {
  namespace sp = satrelay::satperf;
  const sp::ParsedOptions parsed = sp::parse_options(argc, argv, std::cout, std::cerr);
  if (!parsed.options) return static_cast<int>(parsed.exit);
  try {
    const sp::Options& options = *parsed.options;
    if (options.cpu) sp::pin_to_cpu(*options.cpu);
    sp::prepare_process();
    sp::Output output(options.output);
    const sp::Exit exit = options.end == sp::End::kServer ? sp::run_server(options, output)
                          : options.find                  ? sp::find_link(options, output)
                                                          : sp::run_client(options, output);
    if (!output.good()) throw std::runtime_error("the report could not be written");
    return static_cast<int>(exit);
  } catch (const sp::BadOption& error) {
    std::cerr << "satperf: " << error.what() << '\n';
    return static_cast<int>(sp::Exit::kBadOptions);
  } catch (const std::exception& error) {
    std::cerr << "satperf: " << error.what() << '\n';
    return static_cast<int>(sp::Exit::kFailed);
  }
}
