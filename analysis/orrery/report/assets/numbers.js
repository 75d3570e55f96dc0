// Numbers, durations and sizes in the format of words.py, and the ticks of axes.

const LENGTHS = [
  [86400, "d", "days"], [3600, "h", "hours"], [60, "min", "minutes"], [1, "s", "seconds"],
  [1e-3, "ms", "milliseconds"], [1e-6, "µs", "microseconds"],
];
const FORMATS = new Map(); // kept, because creating a format takes longer than using it

function numberText(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size > 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(2);
  const most = Math.max(digits, Math.floor(Math.log10(size || 1)) + 1);
  if (!FORMATS.has(most)) {
    const options = { maximumSignificantDigits: Math.min(most, 21) };
    FORMATS.set(most, new Intl.NumberFormat("en", options));
  }
  return FORMATS.get(most).format(value);
}

// The unit for an axis of time of this length: the axis has at least two of it.
function unitOf(seconds) {
  return LENGTHS.find(([length]) => Math.abs(seconds) >= 2 * length) ?? LENGTHS[seconds ? 5 : 3];
}

// A duration in the largest unit of which it has at least one.
function spanText(seconds) {
  if (seconds === null || !Number.isFinite(seconds)) return "–";
  const [length, unit] = LENGTHS.find(([l]) => Math.abs(seconds) >= l) ?? LENGTHS[seconds ? 5 : 3];
  return `${numberText(seconds / length, 3)} ${unit}`;
}

const PREFIXES = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
const PREFIXED = ["B", "B/s", "bit/s", "W"];

// A figure in a suitable unit: durations in s, min, h or d, sizes in B, kB, MB, GB.
function withUnit(value, unit = "") {
  if (value === null || !Number.isFinite(value)) return "–";
  if (unit === "s") return spanText(value);
  if (unit === "GPU s") return `${numberText(value / 3600)} GPU h`;
  if (!PREFIXED.includes(unit)) return `${numberText(value)} ${unit}`.trim();
  const [length, prefix] = PREFIXES.find(([l]) => Math.abs(value) >= l) ?? PREFIXES[5];
  return `${numberText(value / length, 3)} ${prefix}${unit}`;
}

// A time, exact to a thousandth of the visible range.
function momentText(seconds, range) {
  const parts = [];
  let rest = seconds;
  for (const [length, unit] of LENGTHS) {
    const whole = Math.floor(rest / length + 1e-9);
    if (whole > 0) parts.push(`${whole} ${unit}`);
    rest -= whole * length;
    if (length <= range / 1000) break;
  }
  return parts.join(" ") || "0 s";
}

function niceStep(least) {
  const decade = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((k) => k * decade).find((step) => step >= least * (1 - 1e-9));
}

function marks(low, high, step) {
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
    found.push(k * step || 0); // never -0
  }
  return found;
}

function linearTicks(low, high, most) {
  const step = niceStep((high - low) / most || 1);
  return marks(low, high, step).map((value) => ({ value, text: numberText(value, 6) }));
}

function timeTicks(low, high, most) {
  const [length] = unitOf(high - low);
  const least = (high - low) / most;
  const ladder = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
  ];
  const long = least > 43200 ? 86400 * niceStep(least / 86400) : niceStep(least);
  const step = least >= 1 && least <= 43200 ? ladder.find((s) => s >= least) : long;
  return marks(low, high, step).map((value) => ({ value, text: numberText(value / length, 6) }));
}

// Usual durations on a logarithmic axis: also between decades if few decades are visible.
function logTicks(low, high, most) {
  const candidates = [];
  for (const [from, to, length] of [[1e-6, 1, 1], [1, 60, 1], [60, 3600, 60], [3600, 86400, 3600],
    [86400, 1e10, 86400]]) {
    for (let k = -6; k < 6; k++) {
      for (const digit of [1, 2, 5]) {
        const value = digit * 10 ** k * length;
        const isApart = 1.5 * value < to || to > 1e9; // 50 s would overlap 1 min
        if (value >= from && value < to && isApart) candidates.push({ value, digit });
      }
    }
  }
  const seen = candidates.filter(({ value }) => value >= low && value <= high);
  const ones = seen.filter(({ digit }) => digit === 1);
  let chosen = seen.length <= most || ones.length < 2 ? seen : ones;
  while (chosen.length > most) chosen = chosen.filter((_, place) => place % 2 === 0);
  return chosen.map(({ value }) => ({ value, text: spanText(value) }));
}

const IDENTITY = { to: (x) => x, from: (x) => x, ticks: linearTicks };
const SCALES = {
  linear: IDENTITY,
  time: { ...IDENTITY, ticks: timeTicks },
  log: { to: Math.log10, from: (x) => 10 ** x, ticks: logTicks },
};

// An axis of arms has its ticks at these positions.
function scaleOf({ scale, arms }) {
  if (!arms) return SCALES[scale];
  const ticks = (low, high) => arms.filter(({ value }) => value >= low && value <= high);
  return { ...SCALES[scale], ticks };
}
