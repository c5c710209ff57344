// The queries of a panel, asked as Grafana asks them.
import {duration, rateInterval, seconds, step} from './interval.js';
import {boardLookup, replaced} from './variables.js';
import {heatmap, table, timeSeries} from './frames.js';
import {instant, overTime} from './prometheus.js';

/** The variables of Grafana itself that a query may hold. */
export function ownVariables(rangeS, stepS, scrapeS) {
  return {
    __rate_interval: duration(rateInterval(stepS, scrapeS)),
    __interval: duration(stepS),
    __interval_ms: String(Math.round(stepS * 1000)),
    __range: `${Math.round(rangeS)}s`,
    __range_s: String(Math.round(rangeS)),
    __range_ms: String(Math.round(rangeS) * 1000),
  };
}

/** A query without variables. */
export function filled(text, state, own) {
  const ofBoard = boardLookup(state, '');
  return replaced(text, (name, path, format) => own[name] ?? ofBoard(name, path, format));
}

/** Seconds between two points of a target, and the scrape interval that its rates go by. */
export function stepOf(panel, target, width, range, scrapeS) {
  const least = target.interval || panel.interval;
  return {
    stepS: step(range.end - range.start, panel.maxDataPoints ?? width, least ? seconds(least) : scrapeS),
    scrapeS: target.interval ? seconds(target.interval) : scrapeS,
  };
}

/** The times that a query is asked for: on multiples of the step, so that points stay where they are at a refresh. */
export function aligned(range, stepS) {
  return [Math.floor(range.start / stepS) * stepS, Math.floor(range.end / stepS) * stepS];
}

/** All frames of a panel. */
export async function framesOf(panel, width, range, state, scrapeS, signal) {
  const targets = (panel.targets ?? []).filter((target) => target.expr && !target.hide);
  const answers = targets.map(async (target) => {
    const distance = stepOf(panel, target, width, range, scrapeS);
    const own = ownVariables(range.end - range.start, distance.stepS, distance.scrapeS);
    const query = filled(target.expr, state, own);
    const named = {...target, legendFormat: filled(target.legendFormat ?? '', state, own)};
    const result = target.instant
      ? await instant(query, range.end, signal)
      : await overTime(query, ...aligned(range, distance.stepS), distance.stepS, signal);
    // A query without series, such as scalar(), answers with a pair.
    const list = Array.isArray(result) && result.length && !result[0]?.metric ? [{metric: {}, value: result}] : result;
    if (target.format === 'table') {
      return list.length ? [table(named, list, targets.length)] : [];
    }
    if (target.format === 'heatmap') {
      return heatmap(named, list, distance.stepS);
    }
    return timeSeries(named, list, query, target.instant ? 0 : distance.stepS);
  });
  return (await Promise.all(answers)).flat();
}
