// Formats numbers for people in the same form as satrelayctl (relay/text/numbers.h).

export const NONE = "-"; // not known

const isKnown = (value) => typeof value === "number" && Number.isFinite(value);

function scaled(value, base, units) {
  let unit = 0;
  while (value >= base - 0.5 && unit + 1 < units.length) {
    value /= base;
    unit += 1;
  }
  const decimals = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(decimals)} ${units[unit]}`;
}

export function binaryBytes(bytes) {
  return isKnown(bytes) ? scaled(bytes, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]) : NONE;
}

export function bitRate(bitsPerSecond) {
  if (!isKnown(bitsPerSecond)) return NONE;
  return scaled(bitsPerSecond, 1000, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"]);
}

export function duration(microseconds) {
  if (!isKnown(microseconds)) return NONE;
  const seconds = Math.floor(microseconds / 1e6);
  const two = (number) => String(Math.floor(number)).padStart(2, "0");
  if (seconds >= 86400)
    return `${Math.floor(seconds / 86400)} d ${two((seconds % 86400) / 3600)} h`;
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${two((seconds % 3600) / 60)} min`;
  if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  return scaled(microseconds, 1000, ["us", "ms", "s"]);
}

export const milliseconds = (number) => (isKnown(number) ? duration(number * 1000) : NONE);

export function count(number) {
  if (!isKnown(number)) return NONE;
  return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, " ");
}

export function percent(ratio, decimals = 2) {
  return isKnown(ratio) ? `${(ratio * 100).toFixed(decimals)}%` : NONE;
}

export const share = (partsPerMillion) =>
  isKnown(partsPerMillion) ? percent(partsPerMillion / 1e6) : NONE;

export function ratio(value) {
  return isKnown(value) ? `${value.toFixed(2)} : 1` : NONE;
}

const two = (number) => String(number).padStart(2, "0");

// Formats the time in the reader's time zone.
export function clock(time_ms) {
  const time = new Date(time_ms);
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

export const clockOfMinutes = (time_ms) => clock(time_ms).slice(0, 5);

export function dateAndClock(time_ms) {
  const time = new Date(time_ms);
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date} ${clock(time_ms)}`;
}

// Returns a text like "[2001:db8::7]:443".
export function endpoint(address, port) {
  return String(address).includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

export const oneDecimal = (value) => (isKnown(value) ? value.toFixed(1) : NONE);
