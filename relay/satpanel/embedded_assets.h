// The files of assets/, which the build embeds in the program (embed.py).
#pragma once

#include <span>
#include <string_view>

namespace satrelay::panel {

struct EmbeddedAsset {
  std::string_view name;  // "index.html"
  std::string_view content;
};

std::span<const EmbeddedAsset> embedded_assets();

}  // namespace satrelay::panel
