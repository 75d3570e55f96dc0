// Joins buckets until they fit the pixels. Each group keeps its lowest and highest value.

// The first index k with ends[k] > x or, with `orEqual`, with ends[k] >= x.
function placeOf(ends, x, orEqual = false) {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (orEqual ? ends[middle] >= x : ends[middle] > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

// At most `most` groups of adjacent buckets, which together cover the range.
function groupsIn(data, from, to, most) {
  const first = placeOf(data.ends, from);
  const last = Math.min(placeOf(data.ends, to, true), data.ends.length - 1);
  const size = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, Math.floor(most))));
  const groups = [];
  for (let at = first; at <= last; at += size) {
    const end = Math.min(at + size - 1, last);
    groups.push({
      first: at, last: end, begin: at ? data.ends[at - 1] : data.begin, end: data.ends[end],
    });
  }
  return groups;
}

function reduced(data, series, groups) {
  const { mean } = series;
  const low = series.low ?? mean;
  const high = series.high ?? mean;
  return groups.map(({ first, last }) => {
    let lowest = null;
    let highest = null;
    let sum = 0;
    let total = 0;
    for (let k = first; k <= last; k++) {
      if (mean[k] === null) continue;
      const length = data.ends[k] - (k ? data.ends[k - 1] : data.begin) || 1e-12;
      if (lowest === null || low[k] < lowest) lowest = low[k];
      if (highest === null || high[k] > highest) highest = high[k];
      sum += mean[k] * length;
      total += length;
    }
    return { low: lowest, mean: total ? sum / total : null, high: highest };
  });
}
