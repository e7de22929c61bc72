// Draws a run's time series with gnuplot, as a stack of panels: throughput, queue, loss and, if the
// run has gateways, the gateways' retransmissions.
#pragma once

#include <filesystem>
#include <string>

#include "relay/satlab/run.h"

namespace satrelay::satlab {

// The gnuplot terminal for the file's extension. Throws std::runtime_error for any extension but
// .svg and .png.
std::string plot_terminal(const std::filesystem::path& file);

// Finds gnuplot in PATH. If it is not there, throws std::runtime_error that says how to install it.
std::filesystem::path find_gnuplot();

// Returns the script for gnuplot, which includes the data.
std::string plot_script(const RunResult& result, const std::string& terminal,
                        const std::filesystem::path& output);

// Lets gnuplot draw the plot. Throws std::runtime_error if gnuplot fails.
void draw_plot(const std::filesystem::path& gnuplot, const std::string& script);

}  // namespace satrelay::satlab
