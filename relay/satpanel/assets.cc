#include "relay/satpanel/assets.h"

#include <array>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "relay/satpanel/embedded_assets.h"

namespace satrelay::panel {
namespace {

struct Vendor {
  std::string_view path;
  const char* file;  // path in Debian's package libjs-chart.js
  const char* type;
};
constexpr Vendor kVendors[] = {
    {"/vendor/chart.min.js", "/usr/share/javascript/chart.js/chart.min.js",
     "text/javascript; charset=utf-8"},
    {"/vendor/chart.licence.txt", "/usr/share/doc/libjs-chart.js/copyright",
     "text/plain; charset=utf-8"},
};

const char* type_of(std::string_view name) {
  constexpr std::pair<std::string_view, const char*> kTypes[] = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
  };
  for (const auto& [suffix, type] : kTypes) {
    if (name.ends_with(suffix)) return type;
  }
  return "application/octet-stream";
}

Response file_response(std::string body, const char* type) {
  // Browsers must ask each time whether the file has changed. Otherwise they could show pages of an
  // earlier version of the program.
  return {.type = type, .body = std::move(body), .headers = {{"Cache-Control", "no-cache"}}};
}

}  // namespace

std::optional<Response> find_asset(const std::string& path) {
  for (const Vendor& vendor : kVendors) {
    if (path != vendor.path) continue;
    std::ifstream file(vendor.file, std::ios::binary);
    if (!file) return problem(404, "The package libjs-chart.js is not installed.");
    return file_response({std::istreambuf_iterator<char>(file), {}}, vendor.type);
  }
  constexpr std::string_view kFolder = "/assets/";
  const std::string_view name = path == "/" ? "index.html"
                                : path.starts_with(kFolder)
                                    ? std::string_view(path).substr(kFolder.size())
                                    : std::string_view();
  for (const EmbeddedAsset& asset : embedded_assets()) {
    if (asset.name == name) return file_response(std::string(asset.content), type_of(name));
  }
  return std::nullopt;
}

}  // namespace satrelay::panel
