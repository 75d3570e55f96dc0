// Reads the output of packing.py: deflated columns as base64.

async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const ARRAYS = { uint8: Uint8Array, uint32: Uint32Array, float32: Float32Array };

// Reorders bytes by value, and sums up differences.
function columnOf({ kind, delta }, data) {
  if (kind === "text") return JSON.parse(new TextDecoder().decode(data));
  const size = ARRAYS[kind].BYTES_PER_ELEMENT;
  const count = data.length / size;
  const bytes = new Uint8Array(data.length);
  for (let place = 0; place < size; place++) {
    for (let k = 0, from = place * count; k < count; k++) bytes[k * size + place] = data[from + k];
  }
  const values = new ARRAYS[kind](bytes.buffer);
  if (delta) for (let k = 1; k < count; k++) values[k] += values[k - 1]; // modulo 2^32
  return values;
}

async function unpacked(text) {
  const data = await inflated(text);
  const length = new DataView(data.buffer).getUint32(0, true);
  const about = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
  const columns = {};
  let at = 4 + length;
  for (const one of about) {
    columns[one.name] = columnOf(one, data.subarray(at, at + one.bytes));
    at += one.bytes;
  }
  return columns;
}
