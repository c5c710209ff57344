// Distances of points in time, as Grafana's data source for Prometheus chooses them. The same arithmetic as
// gpuscope_generator/promql/filling.py; a test compares the two.

const UNITS = {ms: 0.001, s: 1, m: 60, h: 3600, d: 86400, w: 604800};
// Below the first number of a pair, in seconds, the second is taken.
const ROUNDED = [
  [0.015, 0.01], [0.035, 0.02], [0.075, 0.05], [0.15, 0.1], [0.35, 0.2], [0.75, 0.5], [1.5, 1], [3.5, 2], [7.5, 5],
  [12.5, 10], [17.5, 15], [25, 20], [45, 30], [90, 60], [210, 120], [450, 300], [750, 600], [1050, 900],
  [1500, 1200], [2700, 1800], [5400, 3600], [9000, 7200], [16200, 10800], [32400, 21600], [86400, 43200],
  [604800, 86400], [1814400, 604800], [3628800, 2592000],
];
const YEAR_S = 31536000;
const MOST_POINTS = 11000;

/** Seconds of a duration such as 1m30s. */
export function seconds(text) {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g)];
  if (!parts.length || parts.map((part) => part[0]).join('') !== text) {
    throw new Error(`'${text}' is not a duration like 30s or 1h30m`);
  }
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit], 0);
}

/** A duration as PromQL writes it. */
export function duration(valueS) {
  return Number.isInteger(valueS) ? `${valueS}s` : `${Math.round(valueS * 1000)}ms`;
}

/** Four scrapes, or a point and a scrape where that is more. */
export function rateInterval(stepS, scrapeS) {
  return Math.max(stepS + scrapeS, 4 * scrapeS);
}

/** Seconds between two points: the range cut into so many, rounded, and not too small. */
export function step(rangeS, points, leastS) {
  const wanted = rangeS / points;
  const rounded = ROUNDED.find(([limit]) => wanted < limit)?.[1] ?? YEAR_S;
  return Math.max(rounded, leastS, Math.ceil(rangeS / MOST_POINTS));
}
