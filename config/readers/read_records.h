// records: what is written down of flows that have ended.
#pragma once

#include "config/model/schema.h"
#include "config/readers/document.h"

namespace satrelay::config {

Records read_records(const Value& value);

}  // namespace satrelay::config
