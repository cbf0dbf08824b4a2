// Columns of a table: what they are called, and values in the units that people know.

// One entry a column: its name, where its values stand, and its categories if it is text.
export function tableColumns(data) {
  if (data.columns) return data.columns;
  const names = data.values || Array.from({ length: data.shape[0] }, (_, i) => `value ${i + 1}`);
  return names.map((name, first) => ({ name, first, categories: [] }));
}

export function rawValue(value, i, { mean, scale, log1p }) {
  const own = mean ? value * scale[i] + mean[i] : value;
  return log1p?.includes(i) ? Math.expm1(own) : own;
}

export function modelValue(own, i, { mean, scale, log1p }) {
  const value = log1p?.includes(i) ? Math.log1p(own) : own;
  return mean ? (value - mean[i]) / scale[i] : value;
}

// Which of a column's categories a vector has: the one with the greatest value before standardisation.
export function likeliest(values, { first, categories }, data) {
  const levels = categories.map((_, k) => rawValue(values[first + k], first + k, data));
  return levels.indexOf(Math.max(...levels));
}

export function inUnits(values, column, data) {
  if (column.categories.length) return column.categories[likeliest(values, column, data)];
  const i = column.first, own = rawValue(values[i], i, data);
  // Two significant digits of how far the column usually varies: what is finer nobody can compare.
  const step = data.scale ? data.scale[i] * (data.log1p?.includes(i) ? 1 + Math.max(own, 0) : 1) : 0;
  const digits = Math.max(0, 1 - Math.floor(Math.log10(step)));
  const form = digits <= 6 ? { minimumFractionDigits: digits, maximumFractionDigits: digits } : { maximumSignificantDigits: 3 };
  return own.toLocaleString("en", form).replace(/^-(?=[0.]*$)/, "").replace("-", "−");
}

// A row of text, found by the columns' names, as the model takes it.
export function columnValues(cell, data) {
  const made = new Float32Array(data.shape[0]);
  for (const column of tableColumns(data)) {
    const text = cell(column.name);
    column.categories.forEach((_, k) => { made[column.first + k] = modelValue(0, column.first + k, data); });
    const known = column.categories.indexOf(text);
    if (column.categories.length && known < 0)
      throw new Error(`“${text}” is no value of ${column.name} (${column.categories.join(", ")}).`);
    const place = column.first + Math.max(known, 0), own = known < 0 ? Number(text) : 1;
    if (text === "" || !Number.isFinite(own)) throw new Error("the row holds text where numbers should be.");
    made[place] = modelValue(own, place, data);
  }
  return made;
}
